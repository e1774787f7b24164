//! A variable without a valid value stops the host at once, and is named.

use crate::process::refused;

#[test]
fn an_invalid_value_is_named_and_exits_with_2() {
    for (variable, value) in [
        ("PORT", ""),
        ("PORT", "http"),
        ("PORT", "-1"),
        ("PORT", "65536"),
        ("DATABASE_URL", ""),
        ("DATABASE_URL", "memory"),
        ("DATABASE_URL", "memory:x"),
        ("DATABASE_URL", "sqlite:"),
        ("DATABASE_URL", "mongodb://localhost"),
        ("REDIS_URL", ""),
        ("REDIS_URL", "redis"),
        ("REDIS_URL", "redis://"),
        ("REDIS_URL", "redis://localhost/first"),
        ("REDIS_URL", "redis://localhost:port"),
        ("REDIS_URL", "rediss://localhost"),
        ("REDIS_URL", "http://localhost"),
        ("RATE_LIMIT", "0"),
        ("RATE_LIMIT", "1000001"),
        ("RATE_LIMIT", ""),
        ("RATE_BURST", "5"),
        ("MOUNT", "kindgi"),
        ("MOUNT", "/"),
        ("MOUNT", "/kindgi/"),
        ("MOUNT", "/a//b"),
        ("MOUNT", "/{a}"),
        ("MOUNT", "/{*a}"),
        ("MOUNT", "/a?b"),
        ("MOUNT", "/health"),
        ("MOUNT", "/demo"),
        ("MOUNT", "/demo/api"),
        ("RUNS", "many"),
        ("RUNS", "1.5"),
        ("RUNS", "4294967296"),
        ("SEED_QUEUE", "-1"),
    ] {
        let (status, error) = refused(&[(variable, value)]);
        assert_eq!(status, Some(2), "{variable}={value}: {error}");
        assert!(error.contains(variable), "{variable}={value}: {error}");
    }
}

#[test]
fn another_database_is_refused_with_the_supported_ones_and_without_its_password() {
    let url = "mysql://ada:secret@localhost/judgments";
    let (status, error) = refused(&[("DATABASE_URL", url)]);
    assert_eq!(status, Some(2), "{error}");
    for said in [
        "DATABASE_URL",
        "`memory:`",
        "`sqlite:FILE`",
        "`postgres:URL`",
    ] {
        assert!(error.contains(said), "{error}");
    }
    assert!(
        error.contains("mysql") && !error.contains("secret"),
        "{error}"
    );
}

#[test]
fn another_server_of_keys_is_refused_without_its_password() {
    for url in [
        "rediss://ada:secret@localhost",
        "redis://ada:secret@localhost/x",
        "redis://ada:secret@",
    ] {
        let (status, error) = refused(&[("REDIS_URL", url)]);
        assert_eq!(status, Some(2), "{error}");
        assert!(
            error.contains("REDIS_URL") && error.contains("`redis://HOST`"),
            "{error}"
        );
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn a_port_that_is_taken_is_named_and_exits_with_1() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (status, error) = refused(&[("PORT", &port)]);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("PORT") && error.contains(&port), "{error}");
}

#[test]
fn a_database_that_can_not_be_opened_says_why_and_exits_with_1() {
    let url = "sqlite:/no/such/folder/judgments.db";
    let (status, error) = refused(&[("DATABASE_URL", url)]);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("unable to open database file"), "{error}");
}

#[test]
fn a_database_server_that_is_not_there_is_told_at_once_without_its_password_and_exits_with_1() {
    // Nobody listens there any more.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let url = format!("postgres://ada:secret@127.0.0.1:{port}/judgments");
    let (status, error) = refused(&[("DATABASE_URL", &url)]);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("refused"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}
