//! Recording a judgment: whatever else is wrong, the first fault in the API's order is answered.

use kindgi_core::model::RunStatus;

use crate::common::{Answer, App, agent_run, finished, judgment, project_scope, raw};

#[derive(Clone, Copy, PartialEq)]
enum Erased {
    No,
    ByTheHost,
    InTheStoreOnly,
}

/// What is wrong, in the API's order.
#[derive(Clone, Copy)]
struct Wrong {
    shape: bool,
    unreadable: bool,
    forbidden: bool,
    erased: Erased,
    unfinished: bool,
    not_applicable: bool,
    not_allowed: bool,
    unresolved: bool,
}

impl Wrong {
    fn code(self) -> Option<&'static str> {
        [
            (self.shape, "bad-input"),
            (self.unreadable, "run-not-found"),
            (self.forbidden, "permission-denied"),
            (self.erased != Erased::No, "run-erased"),
            (self.unfinished, "run-not-finished"),
            (self.not_applicable, "judge-class-not-applicable"),
            (self.not_allowed, "judge-class-not-allowed"),
            (self.unresolved, "item-not-found"),
        ]
        .into_iter()
        .find_map(|(wrong, code)| wrong.then_some(code))
    }

    async fn answer(self) -> Answer {
        let app = App::new();
        let mut rights = Vec::new();
        rights.extend((!self.unreadable).then_some("read:p1"));
        rights.extend((!self.forbidden).then_some("judge:p1"));
        app.user("ann", &rights.join(" "));

        let mut run = finished("run", "p1", "[1]");
        if self.unfinished {
            run = run.with_status(RunStatus::Failed);
        }
        if self.erased == Erased::ByTheHost {
            run = run.erased();
        }
        app.run(run);
        if self.erased == Erased::InTheStoreOnly {
            app.erase("run").await;
        }

        let project = if self.not_applicable { "p2" } else { "p1" };
        let restriction = match self.not_allowed {
            true => r#""assertableBy":{"minReviewerRole":"admin"}"#,
            false => "",
        };
        let class = app.class(&project_scope(project), "n", restriction).await;
        let pointer = if self.unresolved {
            r#""pointer":"/1""#
        } else {
            r#""pointer":"/0""#
        };
        let verdict = if self.shape { "maybe" } else { "yes" };
        let body = judgment("run", "k", pointer).replace(
            "\"yes\"",
            &format!("\"{verdict}\",\"judgeClassId\":\"{class}\""),
        );
        let answer = app.record("ann", &body).await;

        // A refusal records nothing, and captures no context.
        let recorded = usize::from(answer.status == 201);
        assert_eq!(app.ids("admin", "/v1/judgments").await.len(), recorded);
        assert_eq!(app.host.faults.calls("capture"), recorded);
        answer
    }
}

#[tokio::test]
async fn the_earlier_check_wins_whatever_else_is_wrong() {
    for set in 0..1_u32 << 7 {
        let has = |bit: u32| set & (1 << bit) != 0;
        for erased in [Erased::No, Erased::ByTheHost, Erased::InTheStoreOnly] {
            let wrong = Wrong {
                shape: has(0),
                unreadable: has(1),
                forbidden: has(2),
                erased,
                unfinished: has(3),
                not_applicable: has(4),
                not_allowed: has(5),
                unresolved: has(6),
            };
            let answer = wrong.answer().await;
            match wrong.code() {
                None => drop(answer.is(201)),
                Some(code) => drop(answer.refused(code)),
            }
        }
    }
}

#[tokio::test]
async fn a_malformed_pointer_and_a_reserved_key_are_of_the_shape() {
    let app = App::new();
    let malformed = judgment("no-such-run", "k", r#""pointer":"a""#);
    app.record("judge", &malformed)
        .await
        .refused_at("bad-input", "/item/pointer");
    let reserved = judgment("no-such-run", "kindgi:x", "");
    app.record("judge", &reserved)
        .await
        .refused_at("bad-input", "/item/key");
}

#[tokio::test]
async fn a_run_that_hasnt_completed_with_an_output_is_not_finished() {
    let app = App::new();
    for (name, run) in [
        ("running", agent_run("running", "p1")),
        (
            "failed",
            finished("failed", "p1", "{}").with_status(RunStatus::Failed),
        ),
        (
            "cancelled",
            finished("cancelled", "p1", "{}").with_status(RunStatus::Cancelled),
        ),
        (
            "half",
            finished("half", "p1", "{}").with_status(RunStatus::Running),
        ),
        (
            "silent",
            agent_run("silent", "p1").with_status(RunStatus::Completed),
        ),
        ("null", finished("null", "p1", "null")),
        (
            "blank-null",
            agent_run("blank-null", "p1").completed_with(raw(" null ")),
        ),
    ] {
        app.run(run);
        app.record("judge", &judgment(name, "k", ""))
            .await
            .refused("run-not-finished");
    }
}

#[tokio::test]
async fn an_output_that_is_only_falsy_is_an_output() {
    let app = App::new();
    for output in ["false", "0", "\"\"", "[]", "{}", "[null]", "\"null\""] {
        app.run(finished(output, "p1", output));
        let body = judgment(output, "k", r#""pointer":"""#);
        let id = app.record("judge", &body).await.is(201).text("/id");
        let kept = app.judgment(&id).await;
        assert_eq!(kept.shown("/itemValue"), output);
        assert_eq!(kept.shown("/run/output"), output);
    }
}
