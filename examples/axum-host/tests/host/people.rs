//! What each token allows: the table of the README.

use crate::process::Host;

const SECOND: &str = r#"{"kind":"project","projectId":"00000000-0000-4000-8000-0000000000a2"}"#;

#[test]
fn each_token_allows_what_the_table_says() {
    let host = Host::start(&[]);
    // Token, its id, then: run-1 read, judged, removed; run-other-project judged; class of the
    // tenant, of the second project.
    let rows = [
        ("test-token", "user", "c1", [201, 200, 201, 201, 201]),
        ("judge-token", "user", "c2", [201, 403, 201, 403, 403]),
        ("reader-token", "user", "c3", [403, 403, 403, 403, 403]),
        ("project-token", "user", "c4", [404, 404, 201, 403, 201]),
        (
            "service-token",
            "service",
            "svc-1",
            [201, 200, 201, 403, 403],
        ),
        (
            "other-tenant-token",
            "user",
            "d1",
            [404, 404, 404, 201, 404],
        ),
    ];
    for (token, kind, id, [judge, remove, second, tenant_class, project_class]) in rows {
        let theirs = host
            .judge("run-5", "/matches/0", "service-token")
            .expect(201)
            .text("/id");
        let read = if remove == 404 { 404 } else { 200 };
        host.get(&format!("/v1/judgments/{theirs}"), token)
            .expect(read);
        let removal = format!("/v1/judgments/{theirs}/unregister");
        host.post(&removal, token, "").expect(remove);
        host.judge("run-1", "", token).expect(judge);
        let judged = host.judge("run-other-project", "", token).expect(second);
        if second == 201 {
            assert_eq!(judged.text("/assertedBy/kind"), kind);
            assert!(
                judged.text("/assertedBy/id").ends_with(id),
                "{}",
                judged.body
            );
        }
        for (scope, status) in [
            (r#"{"kind":"tenant"}"#, tenant_class),
            (SECOND, project_class),
        ] {
            let body = format!(r#"{{"scope":{scope},"name":"by {token}","weight":1}}"#);
            host.post("/v1/judge-classes", token, &body).expect(status);
        }
    }
}

#[test]
fn reviewer_roles_are_admin_standard_and_none() {
    let host = Host::start(&[]);
    let class = |role: &str| {
        let by = format!(r#"{{"minReviewerRole":"{role}"}}"#);
        let body = format!(
            r#"{{"scope":{{"kind":"tenant"}},"name":"{role}","weight":1,"assertableBy":{by}}}"#
        );
        host.post("/v1/judge-classes", "test-token", &body)
            .expect(201)
            .text("/id")
    };
    let (standard, senior, admin) = (class("standard"), class("senior"), class("admin"));
    for (token, class, status) in [
        ("test-token", &admin, 201),
        ("judge-token", &standard, 201),
        ("judge-token", &senior, 403),
        ("service-token", &standard, 403),
    ] {
        let body = format!(
            r#"{{"runId":"run-1","item":{{"key":"k"}},"verdict":"no","judgeClassId":"{class}"}}"#
        );
        host.post("/v1/judgments", token, &body).expect(status);
    }
}
