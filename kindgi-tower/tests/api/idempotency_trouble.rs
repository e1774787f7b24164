//! A store of keys in trouble at any step: never two effects, never another answer than the one that
//! was given, and never a key that is held for ever.

use std::time::Duration;

use super::idempotency_replay::{Write, everything, same, writes};
use crate::common::{Answer, App, Gate, Trouble, finished, judgment};

/// Retries until the key is free or the answer is there, as a client does.
async fn retried(app: &App, write: &Write) -> Answer {
    for _ in 0..2 {
        let answer = write.done(app, "key").await;
        if answer.status != 409 {
            return answer;
        }
        let answer = answer.refused("idempotency-key-in-flight");
        let seconds: i64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!(seconds <= 30, "{seconds}");
        app.clock.advance_millis(seconds * 1000);
    }
    panic!("{}: the hold outlives its lease", write.name);
}

#[tokio::test(start_paused = true)]
async fn trouble_at_any_step_costs_no_effect_and_no_answer() {
    let troubles = || {
        [
            Trouble::Fails,
            Trouble::Busy,
            Trouble::Panics,
            Trouble::Waits(Gate::closed()),
        ]
    };
    let steps = [
        "begin",
        "begun",
        "complete",
        "completed",
        "release",
        "released",
    ];
    let mut acknowledged = 0;
    for at in steps {
        for trouble in troubles() {
            let (app, writes) = writes().await;
            for write in &writes {
                let before = everything(&app).await;
                app.host.faults.set(at, trouble.clone());
                let first = write.done(&app, "key").await;
                app.host.faults.clear();
                let middle = everything(&app).await;
                if first.status.as_u16() >= 400 {
                    assert_eq!(first.code(), "internal-server-error", "{at}");
                }
                let done = retried(&app, write).await;
                assert!(done.status.is_success(), "{at} {}", done.body);
                let after = everything(&app).await;
                if first.status.is_success() {
                    acknowledged += 1;
                    same(write.name, &first, &done);
                }
                // What had taken effect didn't so again, and the answer says so.
                if middle != before || first.status.is_success() {
                    assert!(done.is_replay(), "{at} {}", write.name);
                }
                if middle != before {
                    assert_eq!(after, middle, "{at} {}", write.name);
                }
                let again = write.done(&app, "key").await;
                same(write.name, &done, &again);
                assert_eq!(everything(&app).await, after, "{at} {}", write.name);
            }
        }
    }
    // Those where the answer couldn't be kept, among others.
    assert!(acknowledged > 0);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_could_not_be_freed_is_free_after_its_lease() {
    for trouble in [
        Trouble::Fails,
        Trouble::Panics,
        Trouble::Waits(Gate::closed()),
    ] {
        let app = App::with(|builder| builder.time_limit(Duration::from_secs(5)));
        let body = judgment("later", "k", "");
        let panics = matches!(trouble, Trouble::Panics);
        app.host.faults.set("release", trouble);
        let refused = app.keyed_post("judge", "/v1/judgments", &body, "key").await;
        let code = if panics {
            "internal-server-error"
        } else {
            "run-not-found"
        };
        refused.refused(code);
        app.host.faults.clear();
        app.run(finished("later", "p1", "{}"));
        app.keyed_post("judge", "/v1/judgments", &body, "key")
            .await
            .refused("idempotency-key-in-flight");
        app.clock.advance_millis(29_999);
        app.keyed_post("judge", "/v1/judgments", &body, "key")
            .await
            .refused("idempotency-key-in-flight");
        app.clock.advance_millis(1);
        app.keyed_post("judge", "/v1/judgments", &body, "key")
            .await
            .is(201);
    }
}

#[tokio::test]
async fn nothing_is_done_under_a_key_that_could_not_be_claimed() {
    let (app, writes) = writes().await;
    let before = everything(&app).await;
    for at in ["begin", "begun"] {
        app.host.faults.set(at, Trouble::Fails);
        for write in &writes {
            write.done(&app, at).await.refused("internal-server-error");
        }
        app.host.faults.clear();
    }
    assert_eq!(everything(&app).await, before);
}

#[tokio::test]
async fn a_key_costs_two_round_trips_for_a_first_request_and_one_for_a_replay() {
    let (app, writes) = writes().await;
    let calls = |of: &App| -> Vec<usize> {
        let faults = &of.host.faults;
        ["begin", "renew", "complete", "release", "receipt"]
            .map(|at| faults.calls(at))
            .to_vec()
    };
    for write in &writes {
        let before = calls(&app);
        write.done(&app, "key").await;
        let first = calls(&app);
        let cost: Vec<usize> = first.iter().zip(&before).map(|(a, b)| a - b).collect();
        assert_eq!(cost, [1, 0, 1, 0, 0], "{}", write.name);
        write.done(&app, "key").await;
        let replay = calls(&app);
        let cost: Vec<usize> = replay.iter().zip(&first).map(|(a, b)| a - b).collect();
        assert_eq!(cost, [1, 0, 0, 0, 0], "{}", write.name);
    }
}
