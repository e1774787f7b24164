//! What the model writes as JSON for a backend to keep, it reads back as it was.

#![allow(clippy::unwrap_used)]

use kindgi_core::{
    json::RawJson,
    model::{Args, AssertableBy, CorrectedCall, Correction, PrincipalKind, ReviewerRole, Segment},
};
use proptest::{collection::vec, option, prelude::*, sample::select};

/// Texts with all that JSON escapes, and more.
fn name() -> impl Strategy<Value = String> {
    "[a-z\"\\\\/ \n\u{7f}é\u{301}😀]{0,6}[a-z]"
}

fn args() -> impl Strategy<Value = Args> {
    let texts = [
        "{}",
        r#"{"a": 1.10, "b" :18446744073709551616}"#,
        r#"{"é":{"x":[1E-7,"\u00e9\n"]}}"#,
    ];
    select(texts.to_vec()).prop_map(|text| Args::new(RawJson::parse(text).unwrap()).unwrap())
}

proptest! {
    #[test]
    fn corrections_are_read_back_as_they_were(
        calls in vec((name(), args()), 0..4),
        not_called in vec(name(), 0..4),
    ) {
        let call = |(tool, args): (String, Args)| CorrectedCall { tool: tool.parse().unwrap(), args };
        let not_called = not_called.iter().map(|tool| tool.parse().unwrap()).collect();
        let correction = Correction::new(calls.into_iter().map(call).collect(), not_called).unwrap();
        let kept = RawJson::parse(correction.to_json().as_str()).unwrap();
        prop_assert_eq!(Correction::from_json(&kept).unwrap(), correction);
    }

    #[test]
    fn restrictions_are_read_back_as_they_were(
        role in option::of(select(&ReviewerRole::ALL[..])),
        kinds in vec(select(&PrincipalKind::ALL[..]), 0..3),
        ids in vec(name(), 0..4),
    ) {
        let ids = ids.iter().map(|id| id.parse().unwrap()).collect();
        let Ok(by) = AssertableBy::new(role, kinds, ids) else {
            return Ok(()); // no part is set
        };
        let kept = RawJson::parse(by.to_json().as_str()).unwrap();
        prop_assert_eq!(AssertableBy::from_json(&kept).unwrap(), by);
    }

    #[test]
    fn segment_paths_are_read_back_as_they_were(
        path in vec(("[a-z][a-z0-9_-]{0,63}", name()), 0..4),
    ) {
        let segment = |(key, value): &(String, String)| Segment::new(key, value).unwrap();
        let path: Vec<Segment> = path.iter().map(segment).collect();
        let kept = RawJson::parse(Segment::path_to_json(&path).as_str()).unwrap();
        prop_assert_eq!(Segment::path_from_json(&kept).unwrap(), path);
    }
}

#[test]
fn what_the_model_did_not_write_is_refused() {
    for text in [
        "{}",
        "[]",
        r#"{"calls":[],"notCalled":[1]}"#,
        r#"{"calls":[{}],"notCalled":[]}"#,
    ] {
        assert!(
            Correction::from_json(&RawJson::parse(text).unwrap()).is_err(),
            "{text}"
        );
    }
    for text in [
        "{}",
        r#"{"principalKinds":[],"principalIds":[]}"#,
        r#"{"principalKinds":["x"],"principalIds":[]}"#,
    ] {
        assert!(
            AssertableBy::from_json(&RawJson::parse(text).unwrap()).is_err(),
            "{text}"
        );
    }
    for text in ["{}", r#"[{"key":"A","value":"x"}]"#, r#"[{"key":"a"}]"#] {
        assert!(
            Segment::path_from_json(&RawJson::parse(text).unwrap()).is_err(),
            "{text}"
        );
    }
}
