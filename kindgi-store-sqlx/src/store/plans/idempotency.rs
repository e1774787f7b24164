//! The same for idempotency keys.

use std::num::NonZeroU16;

use kindgi_core::idempotency::About;

use super::*;
use crate::store::{Tables, clock::Moment, idempotency, operations};

fn about() -> About {
    About::Run("run".parse().unwrap())
}

/// The plan of each statement has all of these steps, and neither scans nor sorts.
async fn assert_steps(statements: &[(Sql, &[&str])]) {
    let (_folder, pool) = pool().await;
    for (sql, steps) in statements {
        let plan = plan(&pool, sql).await;
        for step in *steps {
            assert!(plan.contains(step), "{step}: {plan}");
        }
        assert!(!plan.contains("SCAN"), "{} scans: {plan}", sql.text);
        assert!(!plan.contains("TEMP B-TREE"), "{} sorts: {plan}", sql.text);
    }
}

#[tokio::test]
async fn a_key_and_what_was_forgotten_meanwhile_are_found_by_its_id() {
    let tables = Tables::new("kindgi_");
    let moment = Moment::At(Timestamp::UNIX_EPOCH);
    let id = "INDEX kindgi_idempotency_keys_id (id=?)";
    let bars = "INDEX kindgi_idempotency_bars_id (id=?)";
    assert_steps(&[
        (idempotency::key(&tables, "id", &moment), &[id]),
        (
            idempotency::held(&tables, ("id", "token"), &moment),
            &[id, bars],
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_is_forgotten_is_found_by_the_thing_and_who_is_barred_among_those_in_flight() {
    let tables = Tables::new("kindgi_");
    assert_steps(&[
        (
            idempotency::told_of(&tables, "acme", &about()),
            &["INDEX kindgi_idempotency_about_thing (tenant=? AND kind=? AND thing=?)"],
        ),
        (
            idempotency::bars_of(&tables, "acme", &about()),
            &[
                "INDEX kindgi_idempotency_keys_held (tenant=?)",
                "INDEX kindgi_idempotency_bars_id (id=? AND kind=? AND thing=?)",
            ],
        ),
    ])
    .await;
}

#[tokio::test]
async fn keys_and_operations_that_have_ended_are_found_in_order() {
    let tables = Tables::new("kindgi_");
    let (now, limit) = (Timestamp::UNIX_EPOCH, NonZeroU16::MIN);
    assert_steps(&[
        (
            idempotency::ended(&tables, now, limit),
            &["COVERING INDEX kindgi_idempotency_keys_ended (ends_at<?)"],
        ),
        (
            operations::all_ended(&tables, now, limit),
            &["COVERING INDEX kindgi_operations_all_ended (keep_until<?)"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_is_removed_with_a_key_is_found_by_its_id() {
    let tables = Tables::new("kindgi_");
    for (table, index) in [
        (&tables.idempotency_about, "kindgi_idempotency_about_id"),
        (&tables.idempotency_bars, "kindgi_idempotency_bars_id"),
        (&tables.idempotency_keys, "kindgi_idempotency_keys_id"),
    ] {
        let sql = Sql::new(format!("DELETE FROM {table} WHERE id IN (?, ?)"));
        let sql = sql.bind("one").bind("two");
        assert_steps(&[(sql, &[&format!("INDEX {index} (id=?)")])]).await;
    }
}
