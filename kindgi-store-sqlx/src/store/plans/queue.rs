//! The same for the queue, and for what is purged and read beside it.

use std::num::NonZeroU16;

use kindgi_core::{
    model::{EndedRun, ItemState, ProjectId, RuleId, Segment, Subject},
    store::{JudgedRunFilter, PurgePart, PurgePosition, QueueFilter},
};

use super::*;
use crate::store::{
    Tables, judged_runs, judging_queue, judging_rules, lifecycle, operations, purge, queue_items,
    queue_list, results,
};

fn tenant() -> TenantId {
    "acme".parse().unwrap()
}

fn project() -> ProjectId {
    "project".parse().unwrap()
}

fn tables() -> Tables {
    Tables::new("kindgi_")
}

fn list<'a>(
    tables: &'a Tables,
    (tenant, project): &'a (TenantId, ProjectId),
    filter: &'a QueueFilter,
) -> queue_list::List<'a> {
    queue_list::List {
        tables,
        dialect: &DIALECT,
        tenant,
        project,
        filter,
    }
}

/// No table is read from its beginning, nor a tenant's rows from theirs.
fn assert_searches(plan: &str, what: &str) {
    // A tenant has one row there.
    let plan = plan.replace("kindgi_purges_tenant (tenant=?)", "");
    for step in plan.split("; ") {
        let scanned = step.strip_prefix("SCAN ");
        // Parts of the statement itself.
        let is_own = |name: &str| matches!(name, "CONSTANT ROW" | "g" | "l" | "d" | "p");
        assert!(scanned.is_none_or(is_own), "{what} scans: {plan}");
        assert!(
            !step.contains("(tenant=?)"),
            "{what} reads a tenant: {plan}"
        );
        assert!(!step.contains("AUTOMATIC"), "{what} makes an index: {plan}");
    }
}

fn assert_indexes(plan: &str, indexes: &[&str]) {
    for index in indexes {
        assert!(
            plan.contains(&format!("INDEX kindgi_{index} (")),
            "{index}: {plan}"
        );
    }
}

type Set = fn(&mut QueueFilter);

const AGENT: Set = |f| f.agent = Some("agent".parse().unwrap());
const RULE: Set = |f| f.rule = Some("rule".parse().unwrap());
const WANTS: Set = |f| f.wants = Some("class".parse().unwrap());
const FOR_ME: Set = |f| f.wants_any_or = Some(["class".parse().unwrap()].into());
const FOR_NONE: Set = |f| f.wants_any_or = Some(Default::default());
const ADDED: Set = |f| f.added_after = Some(Timestamp::UNIX_EPOCH);
const CLOSED: Set = |f| f.closed_after = Some(Timestamp::UNIX_EPOCH);
const OPEN: Set = |f| f.state = Some(ItemState::Open);
const JUDGED: Set = |f| f.state = Some(ItemState::Judged);

/// Filters, and the index of the pages' items in order and of their number.
const QUEUES: [(&[Set], &str, &str); 15] = [
    (&[], "queue_items_list", "queue_counts_state"),
    (&[OPEN], "queue_items_state", "queue_counts_state"),
    (&[JUDGED], "queue_items_state", "queue_counts_state"),
    (&[AGENT], "queue_items_agent", "queue_counts_state"),
    (&[RULE], "tellings_rule", "queue_counts_state"),
    (&[WANTS], "tellings_wants", "queue_counts_state"),
    (&[ADDED], "queue_items_list", "queue_items_list"),
    (&[OPEN, ADDED], "queue_items_state", "queue_items_state"),
    (&[OPEN, AGENT], "queue_items_state", "queue_counts_state"),
    (&[OPEN, RULE], "queue_items_state", "queue_counts_state"),
    (
        &[OPEN, WANTS, FOR_ME],
        "queue_items_state",
        "queue_items_state",
    ),
    (&[JUDGED, RULE, WANTS], "tellings_rule", "tellings_rule"),
    (&[JUDGED, WANTS, ADDED], "tellings_wants", "tellings_wants"),
    (
        &[JUDGED, AGENT, CLOSED],
        "queue_items_agent",
        "queue_items_agent",
    ),
    (&[AGENT, RULE, CLOSED], "tellings_rule", "tellings_rule"),
];

#[tokio::test]
async fn every_filter_of_the_queue_has_an_index_that_gives_its_order() {
    let (_folder, pool) = pool().await;
    let (tables, of) = (tables(), (tenant(), project()));
    for (sets, page, total) in QUEUES {
        let mut filter = QueueFilter::default();
        sets.iter().for_each(|set| set(&mut filter));
        let list = list(&tables, &of, &filter);
        for keyset in pages() {
            let sql = list.page(&keyset);
            let plan = plan(&pool, &sql).await;
            assert!(!plan.contains("TEMP B-TREE"), "{filter:?} sorts: {plan}");
            let first = plan.split("; ").next().unwrap();
            assert!(
                first.contains(&format!("INDEX kindgi_{page} (")),
                "{filter:?}: {plan}"
            );
            assert_searches(&plan, &sql.text);
        }
        let sql = list.total();
        let plan = plan(&pool, &sql).await;
        assert!(
            plan.contains(&format!("INDEX kindgi_{total}")),
            "{filter:?}: {plan}"
        );
        assert_searches(&plan, &sql.text);
    }
}

fn for_classes(count: usize) -> QueueFilter {
    let classes = (0..count).map(|n| format!("class-{n}").parse().unwrap());
    QueueFilter {
        wants_any_or: Some(classes.collect()),
        ..QueueFilter::default()
    }
}

#[tokio::test]
async fn what_suits_one_of_many_classes_is_checked_item_by_item() {
    let (_folder, pool) = pool().await;
    let (tables, of) = (tables(), (tenant(), project()));
    let filter = for_classes(33);
    for keyset in pages() {
        let list = list(&tables, &of, &filter);
        let plan = plan(&pool, &list.page(&keyset)).await;
        assert!(plan.contains("INDEX kindgi_queue_items_list ("), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}

#[tokio::test]
async fn what_suits_one_is_merged_of_a_range_for_each_class() {
    let (_folder, pool) = pool().await;
    let (tables, of) = (tables(), (tenant(), project()));
    let ranges = |plan: &str, index: &str, by: &str| {
        let range = format!("COVERING INDEX kindgi_{index} ({by}");
        plan.matches(&range).count()
    };
    for classes in [0, 1, 2, 32] {
        let filter = for_classes(classes);
        let list = list(&tables, &of, &filter);
        for keyset in pages() {
            let plan = plan(&pool, &list.page(&keyset)).await;
            let after = if keyset.after.is_some() { " AND" } else { ")" };
            for (index, by, times) in [
                ("queue_items_any", "tenant=? AND project=?", 1),
                (
                    "tellings_wants",
                    "tenant=? AND project=? AND wants=?",
                    classes,
                ),
            ] {
                let found = ranges(&plan, index, &format!("{by}{after}"));
                assert_eq!(found, times, "{index}: {plan}");
            }
            assert_indexes(&plan, &["queue_items_run"]);
            // The pieces come in order; what is merged of them is sorted.
            let sorts = plan.matches("TEMP B-TREE FOR ORDER BY").count();
            assert!(sorts <= 1, "{plan}");
        }
        let plan = plan(&pool, &list.total()).await;
        if classes < 2 {
            assert_indexes(&plan, &["queue_counts_state"]);
            continue;
        }
        let any = ranges(&plan, "queue_items_any", "tenant=? AND project=?)");
        assert_eq!(any, 1, "{plan}");
        let wants = "tenant=? AND project=? AND wants=?)";
        let wants = ranges(&plan, "tellings_wants", wants);
        assert_eq!(wants, 1, "{plan}");
    }
}

#[tokio::test]
async fn how_many_a_state_and_one_filter_leave_is_never_counted() {
    let (_folder, pool) = pool().await;
    let (tables, of) = (tables(), (tenant(), project()));
    let none: Set = |_| {};
    for state in [None].into_iter().chain(ItemState::ALL.map(Some)) {
        for set in [none, AGENT, RULE, WANTS, FOR_NONE, FOR_ME] {
            let mut filter = QueueFilter {
                state,
                ..QueueFilter::default()
            };
            set(&mut filter);
            let list = list(&tables, &of, &filter);
            for sql in [list.total(), list.statement(None)] {
                let plan = plan(&pool, &sql).await;
                assert_indexes(&plan, &["queue_counts_state"]);
                assert!(!plan.contains("queue_items"), "{filter:?}: {plan}");
                assert!(!plan.contains("tellings"), "{filter:?}: {plan}");
            }
        }
    }
}

#[tokio::test]
async fn items_closed_since_are_found_by_that_and_then_sorted() {
    let (_folder, pool) = pool().await;
    let (tables, of) = (tables(), (tenant(), project()));
    for sets in [&[CLOSED][..], &[CLOSED, JUDGED], &[CLOSED, OPEN]] {
        let mut filter = QueueFilter::default();
        sets.iter().for_each(|set| set(&mut filter));
        let list = list(&tables, &of, &filter);
        let closed = "kindgi_queue_items_closed (tenant=? AND project=? AND closed_at>?)";
        for sql in pages().map(|keyset| list.page(&keyset)) {
            let plan = plan(&pool, &sql).await;
            assert!(plan.contains(closed), "{plan}");
        }
        let plan = plan(&pool, &list.total()).await;
        assert!(plan.contains(&format!("COVERING INDEX {closed}")), "{plan}");
    }
}

#[tokio::test]
async fn results_read_a_rules_own_rows_and_the_judgments_of_its_runs() {
    let (_folder, pool) = pool().await;
    let rule: RuleId = "rule".parse().unwrap();
    for since in [None, Some(Timestamp::UNIX_EPOCH)] {
        let (tenant, project) = (tenant(), project());
        let sql = results::statement(&tables(), &DIALECT, &tenant, &project, &rule, since);
        let plan = plan(&pool, &sql).await;
        let told = plan.matches("kindgi_tellings_rule (tenant=? AND project=? AND rule=? AND");
        assert_eq!(told.count(), 3, "{plan}");
        let judged = "COVERING INDEX kindgi_judgments_counted (tenant=? AND run=?)";
        assert_eq!(plan.matches(judged).count(), 2, "{plan}");
        assert_indexes(&plan, &["queue_items_run", "rules_id", "classes_id"]);
        assert_searches(&plan, &sql.text);
    }
}

#[tokio::test]
async fn what_is_asked_as_a_run_ends_and_is_judged_has_indexes() {
    let (_folder, pool) = pool().await;
    let (tables, tenant, project) = (tables(), tenant(), project());
    let subject = Subject::Flow {
        id: "flow".parse().unwrap(),
        version: "1".parse().unwrap(),
    };
    let run = EndedRun::new(
        "run".parse().unwrap(),
        project.clone(),
        subject,
        Timestamp::UNIX_EPOCH,
    );
    let enabled = judging_rules::enabled(&tables, &tenant, &project);
    let live = queue_items::live_of(&tables.judgments, "acme", "run");
    let standing = judging_queue::standing(&tables, "acme", &run);
    let rules = [
        "project_rules_project",
        "rules_list",
        "rule_versions_version",
    ];
    let facts = [
        "runs_run",
        "tellings_run",
        "purges_tenant",
        "project_rules_project",
    ];
    for (sql, indexes) in [
        (enabled, &rules[..]),
        (live, &["judgments_counted"]),
        (standing, &facts),
    ] {
        let plan = plan(&pool, &sql).await;
        assert_indexes(&plan, indexes);
        assert_searches(&plan, &sql.text);
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}

#[tokio::test]
async fn the_classes_that_rules_want_are_looked_up_class_by_class() {
    let (_folder, pool) = pool().await;
    let sql = judging_rules::wanted_classes(&tables(), &tenant(), &project());
    let plan = plan(&pool, &sql).await;
    let wanted = "kindgi_rule_versions_class (tenant=? AND class=? AND project=?)";
    assert!(plan.contains(wanted), "{plan}");
}

#[tokio::test]
async fn a_step_of_a_purge_begins_where_the_one_before_ended() {
    let (_folder, pool) = pool().await;
    for (part, indexes) in [
        (
            PurgePart::Judgments,
            &["judgments_list", "judgments_dead"][..],
        ),
        (PurgePart::Tellings, &["tellings_age"]),
        (PurgePart::Classes, &["classes_retired"]),
    ] {
        for keyset in pages() {
            let after = keyset.after;
            let is_later = after.is_some();
            let from = PurgePosition { part, after };
            let before = Timestamp::UNIX_EPOCH;
            let sql = purge::old(&tables(), "acme", before, &from, NonZeroU16::MIN);
            let plan = plan(&pool, &sql).await;
            assert_indexes(&plan, indexes);
            assert_searches(&plan, &sql.text);
            assert!(!plan.contains("TEMP B-TREE"), "{part:?}: {plan}");
            let ranges = plan.matches(">? AND").count();
            assert_eq!(ranges, if is_later { indexes.len() } else { 0 }, "{plan}");
        }
    }
}

#[tokio::test]
async fn whether_a_class_is_named_and_what_a_participant_said_are_looked_up() {
    let (_folder, pool) = pool().await;
    let (tables, who) = (tables(), "grace".parse().unwrap());
    let of_class = "(tenant=? AND class=?)";
    let of_participant = "(tenant=? AND participant=?)";
    for (sql, times, what) in [
        (purge::unnamed(&tables, "acme", "class"), 3, of_class),
        (
            lifecycle::erase_dead(&tables, "acme", &who, &who),
            1,
            of_participant,
        ),
        (lifecycle::live_of(&tables, "acme", &who), 1, of_participant),
        (
            lifecycle::outcomes_of(&tables, "acme", &who),
            1,
            of_participant,
        ),
    ] {
        let plan = plan(&pool, &sql).await;
        assert_eq!(plan.matches(what).count(), times, "{plan}");
        assert_searches(&plan, &sql.text);
    }
}

#[tokio::test]
async fn operations_that_have_ended_are_found_in_order() {
    let (_folder, pool) = pool().await;
    let sql = operations::ended(&tables(), "acme", Timestamp::UNIX_EPOCH, NonZeroU16::MIN);
    let plan = plan(&pool, &sql).await;
    let index = "COVERING INDEX kindgi_operations_ended (tenant=? AND keep_until<?)";
    assert!(plan.contains(index), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

type SetRuns = fn(&mut JudgedRunFilter);

const JUDGED_RUNS: [(&str, SetRuns); 10] = [
    ("runs_list", |_| {}),
    ("runs_list", |f| f.since = Some(Timestamp::UNIX_EPOCH)),
    ("runs_list", |f| f.until = Some(Timestamp::UNIX_EPOCH)),
    ("run_paths_list", |f| {
        f.segments = vec![Segment::new("company", "a").unwrap()]
    }),
    ("run_paths_project", |f| {
        f.segments = vec![Segment::new("company", "a").unwrap()];
        f.project = Some("project".parse().unwrap());
    }),
    ("runs_project", |f| {
        f.project = Some("project".parse().unwrap())
    }),
    ("runs_subject", |f| f.flow = Some("flow".parse().unwrap())),
    ("runs_version", |f| {
        f.agent = Some("agent".parse().unwrap());
        f.agent_version = Some("1".parse().unwrap());
    }),
    ("runs_project_subject", |f| {
        f.agent = Some("agent".parse().unwrap());
        f.project = Some("project".parse().unwrap());
    }),
    ("runs_project_version", |f| {
        f.agent = Some("agent".parse().unwrap());
        f.agent_version = Some("1".parse().unwrap());
        f.project = Some("project".parse().unwrap());
    }),
];

#[tokio::test]
async fn every_filter_of_the_list_of_judged_runs_has_an_index() {
    let (_folder, pool) = pool().await;
    let (tables, tenant) = (tables(), tenant());
    for (index, set) in JUDGED_RUNS {
        let mut filter = JudgedRunFilter::default();
        set(&mut filter);
        for keyset in pages() {
            let page = judged_runs::page(&tables, &DIALECT, &tenant, &filter, &keyset);
            let plan_of_page = plan(&pool, &page).await;
            assert!(
                !plan_of_page.contains("TEMP B-TREE"),
                "{filter:?}: {plan_of_page}"
            );
            let sql = judged_runs::list(&tables, &DIALECT, &tenant, &filter, &keyset);
            let plan = plan(&pool, &sql).await;
            let of_run = ["kindgi_runs_run", "kindgi_judgments_counted"];
            for of_run in of_run {
                let looked_up = format!("{of_run} (tenant=? AND run=?)");
                assert!(plan.contains(&looked_up), "{looked_up}: {plan}");
            }
            assert!(
                plan.contains(&format!("INDEX kindgi_{index} (")),
                "{filter:?}: {plan}"
            );
            assert!(!plan.contains("AUTOMATIC"), "{filter:?}: {plan}");
            assert!(
                !plan.contains("kindgi_judgments_of_run (tenant=?)"),
                "{plan}"
            );
        }
    }
}
