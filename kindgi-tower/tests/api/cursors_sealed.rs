//! Cursors are sealed: they tell nothing, no bit of them can be changed, and they end.

use std::sync::Arc;

use kindgi_tower::{CursorKey, KindgiService};

use crate::common::App;

const DAY: i64 = 24 * 60 * 60 * 1000;

fn key(of: u8) -> CursorKey {
    CursorKey::new([of; 32])
}

/// Another node of an app, with these keys.
fn node(app: &App, keys: &[u8]) -> App {
    let builder = KindgiService::builder(app.engine.clone()).authenticator(Arc::clone(&app.host));
    let keys = keys.iter().map(|of| key(*of));
    App {
        service: builder.cursor_keys(keys).build(),
        engine: app.engine.clone(),
        host: Arc::clone(&app.host),
        clock: Arc::clone(&app.clock),
    }
}

async fn app() -> App {
    let app = App::new();
    for n in 0..3 {
        app.judge("judge", "run-1", &n.to_string()).await;
    }
    app
}

async fn cursor(app: &App) -> String {
    let page = app.get("judge", "/v1/judgments?limit=1").await;
    page.is(200).text("/nextCursor")
}

async fn is_good(app: &App, cursor: &str) {
    let whole = app.ids("judge", "/v1/judgments").await;
    let path = format!("/v1/judgments?cursor={cursor}");
    assert_eq!(app.ids("judge", &path).await, whole[1..]);
}

async fn is_refused(app: &App, cursor: &str) {
    let path = format!("/v1/judgments?cursor={cursor}");
    app.get("judge", &path)
        .await
        .refused_at("bad-input", "cursor");
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn a_cursor_tells_neither_where_nor_when_nor_whose() {
    let app = app().await;
    let page = app.get("judge", "/v1/judgments?limit=1").await.is(200);
    let (cursor, row) = (page.text("/nextCursor"), page.text("/data/0/id"));
    let now = kindgi_core::Clock::now(&*app.clock).as_unix_millis();
    let sealed = bytes(&cursor);
    for part in [row.as_bytes(), b"acme", b"judge", &row.as_bytes()[..6]] {
        assert!(!has(&sealed, part), "{cursor}");
        assert!(!cursor.contains(std::str::from_utf8(part).unwrap()));
    }
    for instant in [&now.to_be_bytes()[2..], &now.to_le_bytes()[..6]] {
        assert!(!has(&sealed, instant), "{cursor}");
    }
    // Not even that two are of one place.
    let again = self::cursor(&app).await;
    assert_eq!(again.len(), cursor.len());
    let alike = bytes(&again)
        .iter()
        .zip(&sealed)
        .filter(|(a, b)| a == b)
        .count();
    assert!(alike < sealed.len() / 2, "{cursor} {again}");
}

#[tokio::test]
async fn every_bit_of_a_cursor_counts() {
    let app = app().await;
    let cursor = cursor(&app).await;
    let mut bytes = bytes(&cursor);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            is_refused(&app, &hex(&bytes)).await;
            bytes[at] ^= 1 << bit;
        }
    }
    is_good(&app, &hex(&bytes)).await;
    for end in 1..bytes.len() {
        is_refused(&app, &hex(&bytes[..end])).await;
    }
}

#[tokio::test]
async fn a_cursor_is_good_for_24_hours_and_not_a_millisecond_more() {
    let app = app().await;
    let cursor = cursor(&app).await;
    app.clock.advance_millis(DAY);
    is_good(&app, &cursor).await;
    app.clock.advance_millis(1);
    is_refused(&app, &cursor).await;
}

#[tokio::test]
async fn a_clock_may_be_a_minute_behind_the_one_that_made_the_cursor() {
    let app = app().await;
    let cursor = cursor(&app).await;
    app.clock.advance_millis(-60_000);
    is_good(&app, &cursor).await;
    app.clock.advance_millis(-1);
    is_refused(&app, &cursor).await;
}

#[tokio::test]
async fn nodes_with_the_same_key_take_each_others_cursors() {
    let app = app().await;
    let nodes = [node(&app, &[1]), node(&app, &[1])];
    for (of, at) in [(0, 1), (1, 0)] {
        let cursor = cursor(&nodes[of]).await;
        is_good(&nodes[at], &cursor).await;
    }
}

#[tokio::test]
async fn nodes_without_a_configured_key_and_with_another_dont() {
    let app = app().await;
    let nodes = [
        node(&app, &[]),
        node(&app, &[]),
        node(&app, &[1]),
        node(&app, &[2]),
    ];
    for (of, made_by) in nodes.iter().enumerate() {
        let cursor = cursor(made_by).await;
        for (at, node) in nodes.iter().enumerate() {
            match of == at {
                true => is_good(node, &cursor).await,
                false => is_refused(node, &cursor).await,
            }
        }
    }
}

#[tokio::test]
async fn the_first_key_seals_and_every_key_opens() {
    let app = app().await;
    let (old, both, new) = (node(&app, &[1]), node(&app, &[2, 1]), node(&app, &[2]));
    let of_old = cursor(&old).await;
    is_good(&both, &of_old).await;
    is_refused(&new, &of_old).await;
    let of_both = cursor(&both).await;
    is_good(&new, &of_both).await;
    is_refused(&old, &of_both).await;
    let three = node(&app, &[3, 2, 1]);
    for cursor in [of_old, of_both] {
        is_good(&three, &cursor).await;
    }
}

#[test]
fn a_key_isnt_shown() {
    assert_eq!(format!("{:?}", key(7)), "CursorKey");
}
