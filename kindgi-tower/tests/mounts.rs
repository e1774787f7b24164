//! The one service mounted in axum, warp and plain hyper: it fits, and every mount gives the same
//! answers over a real socket.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "mounts/bounds.rs"]
mod bounds;
#[path = "mounts/client.rs"]
mod client;
#[path = "mounts/host.rs"]
mod host;
#[path = "mounts/mount.rs"]
mod mount;
#[path = "mounts/script.rs"]
mod script;
// The filter that a reader copies is the one that is tested.
#[path = "../../examples/warp-host/src/filter.rs"]
mod warp_filter;

use mount::Mounted;

/// Plain hyper without a prefix is the nearest to the bare service there is.
fn answers_like_plain_hyper(mounted: &Mounted) {
    let plain = script::answers(&mount::hyper_at_the_root());
    let answers = script::answers(mounted);
    assert_eq!(plain.len(), answers.len());
    for (expected, answer) in plain.iter().zip(&answers) {
        assert_eq!(expected, answer);
    }
}

#[test]
fn under_plain_hyper_the_answers_are_those_of_the_api() {
    script::answers(&mount::hyper_at_the_root());
}

#[test]
fn under_plain_hyper_a_base_path_changes_no_answer() {
    answers_like_plain_hyper(&mount::hyper_with_base_path("/kindgi"));
}

#[test]
fn a_base_path_that_the_host_has_stripped_changes_no_answer() {
    answers_like_plain_hyper(&mount::hyper_with_base_path(""));
}

#[test]
fn nested_in_axum_the_answers_are_the_same() {
    answers_like_plain_hyper(&mount::axum_nested());
}

#[test]
fn nested_in_axum_under_an_auth_layer_the_answers_are_the_same() {
    answers_like_plain_hyper(&mount::axum_under_auth_layer());
}

#[test]
fn as_axums_fallback_the_answers_are_the_same() {
    answers_like_plain_hyper(&mount::axum_fallback());
}

#[test]
fn as_a_warp_filter_the_answers_are_the_same() {
    answers_like_plain_hyper(&mount::warp_filter());
}
