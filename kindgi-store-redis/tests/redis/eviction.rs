//! What a server does when it is short of memory is found out, whatever may be asked.

use kindgi_store_redis::{Eviction, eviction};
use kindgi_test_servers::{Redis, RedisCluster};
use redis::{Client, cluster::ClusterClient};

use super::support::manager;

const POLICIES: [(&str, bool); 8] = [
    ("allkeys-lru", true),
    ("allkeys-lfu", true),
    ("allkeys-random", true),
    ("volatile-lru", false),
    ("volatile-lfu", false),
    ("volatile-random", false),
    ("volatile-ttl", false),
    ("noeviction", false),
];

fn should_be(policy: &str, anything: bool) -> Eviction {
    let policy = policy.to_owned();
    match &*policy {
        "noeviction" => Eviction::Never,
        _ if anything => Eviction::Anything { policy },
        _ => Eviction::Expiring { policy },
    }
}

#[tokio::test]
async fn every_policy_is_told() {
    let server = Redis::start();
    let connection = manager(&server).await.unwrap();
    for (policy, anything) in POLICIES {
        server.command(&["CONFIG", "SET", "maxmemory-policy", policy]);
        let is = eviction(&connection).await.unwrap();
        assert_eq!(is, should_be(policy, anything));
        assert_eq!(is.is_worrying(), policy != "noeviction");
        assert!(!is.is_worrying() || is.to_string().contains(policy), "{is}");
    }
}

#[tokio::test]
async fn who_may_ask_less_is_told_all_the_same() {
    let server = Redis::start_with(&[("maxmemory-policy", "allkeys-lru")]);
    let told = should_be("allkeys-lru", true);
    for (number, (rights, is)) in [
        (&["+@all", "-config"][..], told.clone()),
        (&["+@all", "-info"], told),
        (&["+@all", "-info", "-config"], Eviction::Unknown),
    ]
    .into_iter()
    .enumerate()
    {
        let user = format!("user{number}");
        let mut command = vec!["ACL", "SETUSER", &user, "on", ">secret", "~*"];
        command.extend(rights);
        server.command(&command);
        let url = format!("redis://{user}:secret@127.0.0.1:{}/", server.port());
        let client = Client::open(url).unwrap();
        let connection = client.get_multiplexed_async_connection().await.unwrap();
        assert_eq!(eviction(&connection).await.unwrap(), is, "{rights:?}");
        assert!(is.is_worrying());
    }
}

#[tokio::test]
async fn the_worst_of_a_clusters_nodes_is_told() {
    let cluster = RedisCluster::start();
    let client = ClusterClient::new(cluster.urls()).unwrap();
    let connection = client.get_async_connection().await.unwrap();
    assert_eq!(eviction(&connection).await.unwrap(), Eviction::Never);
    for (number, policy, anything) in [
        (2, "volatile-ttl", false),
        (0, "allkeys-random", true),
        (1, "volatile-lru", false),
    ] {
        let node = &cluster.nodes()[number];
        node.command(&["CONFIG", "SET", "maxmemory-policy", policy]);
        let worst = match anything || number == 1 {
            true => should_be("allkeys-random", true),
            false => should_be(policy, anything),
        };
        assert_eq!(eviction(&connection).await.unwrap(), worst);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error() {
    let mut server = Redis::start();
    let client = Client::open(server.url()).unwrap();
    let connection = client.get_multiplexed_async_connection().await.unwrap();
    server.stop();
    eviction(&connection).await.unwrap_err();
}
