//! Names are unique among the live classes of one scope, compared exactly.

use crate::common::{App, agent_scope, class, project_scope};

const TENANT_SCOPE: &str = r#"{"kind":"tenant"}"#;
const CLASSES: &str = "/v1/judge-classes";

#[tokio::test]
async fn a_taken_name_is_a_conflict() {
    let app = App::new();
    for scope in [TENANT_SCOPE, &project_scope("p1"), &agent_scope("p1", "a")] {
        app.class(scope, "Expert", "").await;
        let body = class(scope, "Expert", "");
        app.post("admin", CLASSES, &body)
            .await
            .refused_at("judge-class-name-taken", "/name");
        // However it is spelled.
        let body = body.replace("\"Expert\"", r#""\u0045xpert""#);
        app.post("admin", CLASSES, &body)
            .await
            .refused("judge-class-name-taken");
    }
}

#[tokio::test]
async fn case_accents_and_blanks_matter() {
    let app = App::new();
    for name in [
        "Expert",
        "expert",
        "EXPERT",
        "Expert ",
        " Expert",
        "Éxpert",
        "E\u{301}xpert",
        "Expert\u{200b}",
        "Ex\u{ad}pert",
        "ﬁ",
        "fi",
        "ß",
        "ss",
        "Ⅷ",
        "VIII",
        "İ",
        "i",
        "ı",
        "I",
    ] {
        app.class(TENANT_SCOPE, name, "").await;
    }
}

#[tokio::test]
async fn each_scope_has_names_of_its_own() {
    let app = App::new();
    for scope in [
        TENANT_SCOPE,
        &project_scope("p1"),
        &project_scope("p2"),
        &agent_scope("p1", "a"),
        &agent_scope("p1", "b"),
        &agent_scope("p2", "a"),
    ] {
        app.class(scope, "Expert", "").await;
    }
}

#[tokio::test]
async fn a_retired_class_frees_its_name() {
    let app = App::new();
    let old = app.class(TENANT_SCOPE, "Expert", "").await;
    app.post("admin", &format!("{CLASSES}/{old}/unregister"), "")
        .await
        .is(200);
    let new = app.class(TENANT_SCOPE, "Expert", "").await;
    assert_ne!(new, old);
    app.post("admin", CLASSES, &class(TENANT_SCOPE, "Expert", ""))
        .await
        .refused("judge-class-name-taken");
    app.post("admin", &format!("{CLASSES}/{old}/unregister"), "")
        .await
        .refused("judge-class-not-found");
    app.post("admin", CLASSES, &class(TENANT_SCOPE, "Expert", ""))
        .await
        .refused("judge-class-name-taken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_at_once_one_gets_the_name() {
    use std::sync::{Arc, Barrier};
    let app = Arc::new(App::new());
    let barrier = Arc::new(Barrier::new(50));
    let runtime = tokio::runtime::Handle::current();
    let writers: Vec<_> = (0..50)
        .map(|_| {
            let (app, barrier, runtime) = (Arc::clone(&app), Arc::clone(&barrier), runtime.clone());
            std::thread::spawn(move || {
                barrier.wait();
                let body = class(TENANT_SCOPE, "Expert", "");
                runtime
                    .block_on(app.post("admin", CLASSES, &body))
                    .status
                    .as_u16()
            })
        })
        .collect();
    let mut statuses: Vec<u16> = tokio::task::spawn_blocking(|| {
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    })
    .await
    .unwrap();
    statuses.sort_unstable();
    assert_eq!(statuses[0], 201);
    assert_eq!(statuses[1..], [409; 49]);
    assert_eq!(app.ids("admin", CLASSES).await.len(), 1);
}
