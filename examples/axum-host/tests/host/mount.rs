//! The same API, at the root or below a path, beside the host's own routes.

use crate::{client::send, process::Host};

#[test]
fn below_a_path_the_api_is_there_and_only_there() {
    let host = Host::start(&[("MOUNT", "/api/kindgi")]);
    let below = host
        .get("/api/kindgi/v1/judgments", "test-token")
        .expect(200);
    assert_eq!(below.body, r#"{"data":[],"hasMore":false}"#);
    host.get("/v1/judgments", "test-token").expect(404);
    host.get("/api/kindgi/v1/nothing", "test-token")
        .expect_error(404, "not-found");
    send(host.address, "GET", "/health", &[], "").expect(200);
    host.post("/demo/runs", "test-token", "{}").expect(201);
}

#[test]
fn at_the_root_the_api_has_every_path_that_the_host_has_not() {
    for variables in [&[][..], &[("MOUNT", "")]] {
        let host = Host::start(variables);
        host.get("/v1/judgments", "test-token").expect(200);
        host.get("/nothing", "test-token")
            .expect_error(404, "not-found");
        send(host.address, "GET", "/health", &[], "").expect(200);
        host.post("/demo/runs", "test-token", "{}").expect(201);
    }
}
