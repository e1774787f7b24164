//! What the model writes as JSON for a backend to keep, it reads back as it was.

#![allow(clippy::unwrap_used)]

use kindgi_core::{
    json::RawJson,
    model::{
        Args, AssertableBy, CorrectedCall, Correction, InvalidText, PrincipalKind, ReviewerRole,
        RuleWhen, Segment, Version, VersionMatch, WhenItems, WhenSubjects,
    },
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

fn items<T>(texts: &[String]) -> WhenItems<T>
where
    T: PartialEq + for<'t> TryFrom<&'t str, Error = InvalidText>,
{
    WhenItems::new(
        texts
            .iter()
            .map(|text| T::try_from(text).unwrap())
            .collect(),
    )
    .unwrap()
}

fn subjects() -> impl Strategy<Value = WhenSubjects> {
    prop_oneof![
        Just(WhenSubjects::Any),
        vec(name(), 1..4).prop_map(|ids| WhenSubjects::Agents(items(&ids))),
        vec(name(), 1..4).prop_map(|ids| WhenSubjects::Flows(items(&ids))),
    ]
}

fn versions() -> impl Strategy<Value = WhenItems<VersionMatch>> {
    let version = prop_oneof![Just("live".to_owned()), name()];
    let version = version.prop_map(|text| Version::new(text).unwrap().into());
    vec(version, 1..4).prop_map(|versions| WhenItems::new(versions).unwrap())
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

    #[test]
    fn what_a_rule_matches_is_read_back_as_it_was(
        subjects in subjects(),
        versions in option::of(versions()),
        says_completed: bool,
        include_dry_runs: Option<bool>,
    ) {
        let when = RuleWhen { subjects, versions, says_completed, include_dry_runs };
        let kept = RawJson::parse(when.to_json().as_str()).unwrap();
        prop_assert_eq!(RuleWhen::from_json(&kept).unwrap(), when);
    }
}

#[test]
fn what_a_rule_matches_is_written_as_the_api_has_it() {
    assert_eq!(RuleWhen::default().to_json().as_str(), "{}");
    let ids = ["b".to_owned(), "a".to_owned()];
    let mut when = RuleWhen {
        subjects: WhenSubjects::Agents(items(&ids)),
        versions: Some(
            WhenItems::new(vec![
                VersionMatch::Live,
                VersionMatch::Exact("1".parse().unwrap()),
            ])
            .unwrap(),
        ),
        says_completed: true,
        include_dry_runs: Some(false),
    };
    let written = concat!(
        r#"{"agentIds":["b","a"],"versions":["live","1"],"#,
        r#""status":["completed"],"includeDryRuns":false}"#,
    );
    assert_eq!(when.to_json().as_str(), written);
    when.subjects = WhenSubjects::Flows(items(&ids));
    let written = written.replace("agentIds", "flowIds");
    assert_eq!(when.to_json().as_str(), written);
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
    for text in [
        "[]",
        r#"{"agentIds":[]}"#,
        r#"{"agentIds":["a"],"flowIds":["a"]}"#,
        r#"{"flowIds":"a"}"#,
        r#"{"versions":[1]}"#,
        r#"{"status":["failed"]}"#,
        r#"{"status":[]}"#,
        r#"{"status":["completed","completed"]}"#,
        r#"{"includeDryRuns":1}"#,
    ] {
        assert!(
            RuleWhen::from_json(&RawJson::parse(text).unwrap()).is_err(),
            "{text}"
        );
    }
}
