//! Servers that refuse: nothing is written, the error says why, and it goes on when they refuse no
//! more.

use std::{fs, thread};

use kindgi_core::{
    StoreErrorKind::{self, Busy, Other},
    idempotency::Begun,
    rate_limit::RateDecision,
};
use kindgi_store_redis::Connection;
use kindgi_test_servers::{Redis, RedisCluster};
use redis::cmd;

use super::{
    made::{LONG, begin, complete, run, store},
    state::ask,
    steps::{Bench, Step, Trial},
    support::{assert_refused, direct, manager, multiplexed, prefix, text, until, until_it_tells},
};

/// Every step, about to be taken.
pub(crate) async fn trials(port: u16) -> Vec<Trial> {
    let mut all = Vec::new();
    for step in Step::ALL {
        all.push(Trial::new(step, port).await);
    }
    all
}

pub(crate) async fn all_refused<C: Connection>(
    trials: &[Trial],
    connection: &C,
    (kind, why): (StoreErrorKind, &str),
) {
    for trial in trials {
        let answer = trial.step.take(&trial.bench(connection.clone())).await;
        assert_refused(&answer.unwrap_err(), kind, why);
    }
}

pub(crate) async fn all_taken<C: Connection>(trials: &[Trial], connection: &C) {
    for trial in trials {
        trial.assert_untouched("it was refused");
        let step = trial.step;
        let answer = step.take(&trial.bench(connection.clone())).await;
        assert_eq!(answer.unwrap(), step.answer());
        trial.assert_taken("it is refused no more");
    }
}

#[tokio::test]
async fn a_server_that_may_not_write_takes_nothing() {
    for (refuse, told, allow) in [
        (
            &[&["REPLICAOF", "127.0.0.1", "1"][..]][..],
            (Busy, "is a replica"),
            &[&["REPLICAOF", "NO", "ONE"][..]][..],
        ),
        (
            &[
                &["CONFIG", "SET", "replica-serve-stale-data", "no"],
                &["REPLICAOF", "127.0.0.1", "1"],
            ],
            (Busy, "is a replica"),
            &[&["REPLICAOF", "NO", "ONE"]],
        ),
        (
            &[&["CONFIG", "SET", "min-replicas-to-write", "1"]],
            (Busy, "too few replicas"),
            &[&["CONFIG", "SET", "min-replicas-to-write", "0"]],
        ),
        (
            &[&["ACL", "SETUSER", "default", "-evalsha"]],
            (Other, "doesn't let this connection"),
            &[&["ACL", "SETUSER", "default", "+evalsha"]],
        ),
    ] {
        let server = Redis::start();
        let trials = trials(server.port()).await;
        let connection = manager(server.port()).await;
        for command in refuse {
            server.command(command);
        }
        all_refused(&trials, &connection, told).await;
        for command in allow {
            server.command(command);
        }
        all_taken(&trials, &connection).await;
    }
}

/// It may not know what was forgotten since.
#[tokio::test]
async fn a_replica_gives_no_answer_again() {
    let server = Redis::start();
    let connection = manager(server.port()).await;
    let (keys, _clock) = store(connection, &prefix());
    for number in [1, 2] {
        begin(&keys, number, 1, LONG).await.unwrap();
    }
    complete(&keys, 1, 1, &[run("a")]).await.unwrap();
    server.command(&["REPLICAOF", "127.0.0.1", "1"]);
    for number in [1, 2] {
        let answer = begin(&keys, number, 2, LONG).await;
        assert_refused(&answer.unwrap_err(), Busy, "is a replica");
    }
    server.command(&["REPLICAOF", "NO", "ONE"]);
    let kept = begin(&keys, 1, 2, LONG).await.unwrap();
    assert!(matches!(kept, Begun::Replay(_)), "{kept:?}");
    let held = begin(&keys, 2, 2, LONG).await.unwrap();
    assert!(matches!(held, Begun::InFlight { .. }), "{held:?}");
}

#[tokio::test]
async fn a_server_that_cant_save_takes_nothing() {
    let server = Redis::start();
    let trials = trials(server.port()).await;
    let connection = manager(server.port()).await;
    let in_the_way = server.folder().join("dump.rdb");
    fs::create_dir(&in_the_way).unwrap();
    server.command(&["CONFIG", "SET", "save", "3600 1"]);
    server.command(&["BGSAVE"]);
    until("the snapshot has failed", || {
        let info = server.command(&["INFO", "persistence"]);
        let info = info.text().unwrap();
        info.contains("rdb_last_bgsave_status:err")
    });
    all_refused(&trials, &connection, (Other, "on disk")).await;
    fs::remove_dir(&in_the_way).unwrap();
    server.command(&["SAVE"]);
    all_taken(&trials, &connection).await;
}

#[tokio::test]
async fn a_server_that_wants_a_password_takes_nothing() {
    let server = Redis::start();
    let trials = trials(server.port()).await;
    let known = manager(server.port()).await;
    server.command(&["CONFIG", "SET", "requirepass", "secret"]);
    for trial in &trials {
        // Where a command is long, the server closes the link.
        let unknown = multiplexed(server.port()).await;
        let answer = trial.step.take(&trial.bench(unknown)).await;
        assert_refused(&answer.unwrap_err(), Other, "doesn't let this connection");
    }
    let mut allow = cmd("CONFIG");
    allow.arg(&["SET", "requirepass", ""]);
    allow.exec_async(&mut known.clone()).await.unwrap();
    all_taken(&trials, &known).await;
}

/// Who may run scripts, but not all that is in them, writes a part of a step: nobody says then that
/// nothing was written. Once it is allowed, the step makes it whole.
#[tokio::test]
async fn a_user_who_may_do_a_part_of_a_step_isnt_told_that_nothing_was_written() {
    let server = Redis::start();
    let trial = Trial::new(Step::Claim, server.port()).await;
    let bench = trial.bench(manager(server.port()).await);
    server.command(&["ACL", "SETUSER", "default", "-hset"]);
    let error = begin(&bench.keys, 1, 1, LONG).await.unwrap_err();
    let said = text(&error);
    assert_eq!(error.kind(), Other, "{said}");
    assert!(said.contains("can't run this command"), "{said}");
    assert!(!said.contains("nothing was written"), "{said}");
    let name = format!("{{{}:keys}}:ends", trial.prefix);
    assert_eq!(server.command(&["ZCARD", &name]).int(), Some(1));
    server.command(&["ACL", "SETUSER", "default", "+hset"]);
    Step::Claim.take(&bench).await.unwrap();
    trial.assert_taken("it is allowed");
}

/// What needs no more memory, or gives some back, is taken: who holds a key can answer it, and what
/// is to be forgotten is.
#[tokio::test]
async fn a_server_without_memory_takes_nothing_new() {
    let server = Redis::start();
    let trials = trials(server.port()).await;
    let connection = manager(server.port()).await;
    server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    let mut refused = Vec::new();
    for trial in trials {
        let step = trial.step;
        let bench = trial.bench(connection.clone());
        match step.take(&bench).await {
            Ok(answer) => {
                assert_eq!(answer, step.answer());
                trial.assert_taken("without memory");
            }
            Err(error) => {
                assert_refused(&error, Other, "`maxmemory`");
                trial.assert_untouched("without memory");
                refused.push(trial);
            }
        }
    }
    let steps: Vec<Step> = refused.iter().map(|trial| trial.step).collect();
    assert_eq!(steps, [Step::Claim, Step::Count]);
    server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    all_taken(&refused, &connection).await;
}

/// Its first write drops what ended.
#[tokio::test]
async fn a_claim_that_makes_room_is_taken_without_memory() {
    let server = Redis::start();
    let trial = Trial::new(Step::Purge, server.port()).await;
    let bench = trial.bench(manager(server.port()).await);
    server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    begin(&bench.keys, 10, 1, LONG).await.unwrap();
    assert_eq!(trial.state().records.len(), 2);
    let error = begin(&bench.keys, 11, 1, LONG).await.unwrap_err();
    assert_refused(&error, Other, "`maxmemory`");
    assert_eq!(trial.state().records.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_reads_its_data_takes_nothing() {
    let server = Redis::start_with(&[("enable-debug-command", "yes")]);
    let trials = trials(server.port()).await;
    let connection = manager(server.port()).await;
    // It looks at its clients after each part of this, which takes it longer than any test, unless
    // it is told to go on.
    server.command(&["DEBUG", "POPULATE", "3000", "much", "1000"]);
    server.command(&[
        "CONFIG",
        "SET",
        "loading-process-events-interval-bytes",
        "1024",
    ]);
    server.command(&["CONFIG", "SET", "key-load-delay", "20000"]);
    thread::scope(|scope| {
        let loading = scope.spawn(|| server.command(&["DEBUG", "RELOAD"]));
        until_it_tells(&server, "LOADING");
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            handle.block_on(all_refused(
                &trials,
                &connection,
                (Busy, "reading its data"),
            ));
        });
        server.command(&["CONFIG", "SET", "key-load-delay", "0"]);
        loading.join().unwrap();
    });
    all_taken(&trials, &connection).await;
}

/// Every step on idempotency keys, whose slots are a cluster's first node's.
async fn trials_on_first(cluster: &RedisCluster) -> Vec<Trial> {
    let port = cluster.nodes()[0].port();
    let on_first = || {
        let is_there = |prefix: &String| cluster.slot_of(&tag(prefix)) < 16_384 / 3;
        std::iter::repeat_with(prefix).find(is_there).unwrap()
    };
    let mut all = Vec::new();
    for step in Step::ALL {
        if step != Step::Count {
            let prefixes = [on_first(), on_first()];
            let connection = manager(port).await;
            all.push(Trial::between(step, port, connection, prefixes).await);
        }
    }
    all
}

fn tag(prefix: &str) -> String {
    format!("{{{prefix}:keys}}:index")
}

#[tokio::test]
async fn another_node_of_a_cluster_takes_nothing() {
    let cluster = RedisCluster::start();
    let [first, second, ..] = cluster.nodes() else {
        panic!("too few nodes")
    };
    let trials = trials_on_first(&cluster).await;
    let wrong = manager(second.port()).await;
    all_refused(&trials, &wrong, (Other, "node of a cluster")).await;
    assert_eq!(second.command(&["DBSIZE"]).int(), Some(0));
    all_taken(&trials, &manager(first.port()).await).await;
}

#[tokio::test]
async fn a_caller_is_counted_by_one_node_of_a_cluster() {
    let cluster = RedisCluster::start();
    let (mut allowed, prefix, clock) = (0, prefix(), std::sync::Arc::default());
    for node in cluster.nodes() {
        let bench = Bench::new(manager(node.port()).await, &prefix, &clock);
        let who = super::made::caller("a");
        let decision = kindgi_core::rate_limit::RateLimiter::check(&bench.limiter, &who).await;
        let count = node.command(&["DBSIZE"]).int().unwrap();
        match decision {
            Ok(decision) => {
                assert_eq!((decision, count), (RateDecision::Allowed, 1));
                allowed += 1;
            }
            Err(error) => {
                assert_refused(&error, Other, "node of a cluster");
                assert_eq!(count, 0);
            }
        }
    }
    assert_eq!(allowed, 1);
}

#[tokio::test]
async fn a_cluster_that_is_down_takes_nothing() {
    let cluster = RedisCluster::start();
    let node = &cluster.nodes()[0];
    let trials = trials_on_first(&cluster).await;
    let connection = manager(node.port()).await;
    let slots: Vec<String> = trials
        .iter()
        .map(|trial| cluster.slot_of(&tag(&trial.prefix)).to_string())
        .collect();
    let with_slots = |what: &'static str| {
        let mut command = vec!["CLUSTER", what];
        command.extend(slots.iter().map(|slot| &**slot));
        node.command(&command);
    };
    with_slots("DELSLOTS");
    all_refused(&trials, &connection, (Busy, "the cluster has no node")).await;
    with_slots("ADDSLOTS");
    cluster.wait();
    all_taken(&trials, &connection).await;
}

/// Of a key that isn't there any more the node says where it may be; of keys of which some are, that
/// it be tried again.
#[tokio::test]
async fn a_slot_that_moves_to_another_node_takes_nothing_meanwhile() {
    let cluster = RedisCluster::start();
    let [first, second, ..] = cluster.nodes() else {
        panic!("too few nodes")
    };
    let id = |node: &Redis| {
        node.command(&["CLUSTER", "MYID"])
            .text()
            .unwrap()
            .to_owned()
    };
    let connection = manager(first.port()).await;
    for trial in trials_on_first(&cluster).await {
        let (name, trial) = (tag(&trial.prefix), [trial]);
        let slot = cluster.slot_of(&name).to_string();
        let had_some = ask::<bool>(&mut direct(first.port()), &["EXISTS", &name]);
        first.command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &id(second)]);
        second.command(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &id(first)]);
        let migrate = |from: &Redis, to: &Redis| {
            let port = to.port().to_string();
            from.command(&["MIGRATE", "127.0.0.1", &port, &name, "0", "60000"])
        };
        migrate(first, second);
        let told = match had_some {
            true => (Busy, "the cluster has no node"),
            false => (Other, "node of a cluster"),
        };
        all_refused(&trial, &connection, told).await;
        // Its own again, the first takes it back.
        first.command(&["CLUSTER", "SETSLOT", &slot, "STABLE"]);
        if had_some {
            let port = first.port().to_string();
            let mut back = redis::pipe();
            back.cmd("ASKING").ignore().cmd("MIGRATE");
            back.arg(&["127.0.0.1", &port, &name, "0", "60000"]);
            let _: (String,) = back.query(&mut direct(second.port())).unwrap();
        }
        second.command(&["CLUSTER", "SETSLOT", &slot, "STABLE"]);
        all_taken(&trial, &connection).await;
    }
}
