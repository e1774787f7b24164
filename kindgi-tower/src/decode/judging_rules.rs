//! The bodies and queries of judging rules.

use bytes::Bytes;
use kindgi_core::{
    engine::{PreviewRule, RulePatch, RuleSpec},
    json::Number,
    model::{
        InvalidText, MAX_WHEN_ITEMS, MaxOpen, RuleWhen, Sample, Version, VersionMatch, WhenItems,
        WhenSubjects,
    },
};

use super::{Decoder, Fields, Value, body, query::Query};
use crate::refusal::Refusal;

const SPEC: &[&str] = &[
    "name",
    "when",
    "sample",
    "maxOpen",
    "judgeClassId",
    "enabled",
];
const COMPLETED: &str = "must be \"completed\", the only status that can be judged";
const NOT_BOTH: &str = "doesn't go with agentIds";
const SHARE: &str = "must be above 0 and at most 1";

/// The body of `projects.judgingRules.create`.
pub(crate) fn create(bytes: Bytes) -> Result<RuleSpec, Refusal> {
    let node = body(bytes)?;
    let mut decoder = Decoder::default();
    let spec = spec(&mut decoder, &Value::root(&node));
    decoder.finish(spec)
}

fn spec(d: &mut Decoder, value: &Value<'_>) -> Option<RuleSpec> {
    let fields = d.object(value, SPEC)?;
    let name = d.required(&fields, "name").and_then(|v| d.text(&v));
    let when = d.required(&fields, "when").and_then(|v| when(d, &v));
    let sample = d.optional(&fields, "sample", sample);
    let max_open = d.optional(&fields, "maxOpen", max_open);
    let class = d.optional(&fields, "judgeClassId", |d, v| d.text(v));
    let enabled = d.optional(&fields, "enabled", |d, v| d.bool(v));
    let mut spec = RuleSpec::new(name?, when?);
    spec.sample = sample?.unwrap_or(Sample::ALL);
    spec.max_open = max_open?;
    spec.class = class?;
    spec.enabled = enabled?.unwrap_or(true);
    Some(spec)
}

/// The body of `projects.judgingRules.update`. One that changes nothing is none to refuse.
pub(crate) fn update(bytes: Bytes) -> Result<RulePatch, Refusal> {
    let node = body(bytes)?;
    let mut decoder = Decoder::default();
    let patch = patch(&mut decoder, &Value::root(&node));
    decoder.finish(patch)
}

fn patch(d: &mut Decoder, value: &Value<'_>) -> Option<RulePatch> {
    let fields = d.object(value, SPEC)?;
    let name = d.optional(&fields, "name", |d, v| d.text(v));
    let when = d.optional(&fields, "when", when);
    let sample = d.optional(&fields, "sample", sample);
    let max_open = d.optional(&fields, "maxOpen", |d, v| d.nullable(v, max_open));
    let class = d.optional(&fields, "judgeClassId", |d, v| {
        d.nullable(v, |d, v| d.text(v))
    });
    let enabled = d.optional(&fields, "enabled", |d, v| d.bool(v));
    let mut patch = RulePatch::default();
    patch.name = name?;
    patch.when = when?;
    patch.sample = sample?;
    patch.max_open = max_open?;
    patch.class = class?;
    patch.enabled = enabled?;
    Some(patch)
}

fn when(d: &mut Decoder, value: &Value<'_>) -> Option<RuleWhen> {
    let known = [
        "agentIds",
        "flowIds",
        "versions",
        "status",
        "includeDryRuns",
    ];
    let fields = d.object(value, &known)?;
    let agents = names(d, &fields, "agentIds");
    let flows = names(d, &fields, "flowIds");
    let versions = names::<Version>(d, &fields, "versions");
    let status = d.optional(&fields, "status", |d, v| {
        d.list(v, 1..=usize::MAX, |d, v| d.name(v, completed, COMPLETED))
    });
    let dry = d.optional(&fields, "includeDryRuns", |d, v| d.bool(v));
    let subjects = match (agents?, flows?) {
        (None, None) => WhenSubjects::Any,
        (Some(agents), None) => WhenSubjects::Agents(agents),
        (None, Some(flows)) => WhenSubjects::Flows(flows),
        (Some(_), Some(_)) => {
            return d.fault(&value.at.child("flowIds"), NOT_BOTH);
        }
    };
    Some(RuleWhen {
        subjects,
        versions: versions?.and_then(|versions| version_matches(&versions)),
        says_completed: status?.is_some(),
        include_dry_runs: dry?,
    })
}

/// A list of 1 to 50 texts, if it is there.
fn names<T>(d: &mut Decoder, fields: &Fields<'_>, name: &str) -> Option<Option<WhenItems<T>>>
where
    T: for<'t> TryFrom<&'t str, Error = InvalidText> + PartialEq,
{
    d.optional(fields, name, |d, v| {
        let items = d.list(v, 1..=MAX_WHEN_ITEMS, |d, v| {
            let text = d.string(v)?;
            d.valid(&v.at, T::try_from(text))
        })?;
        // One whose items were all faulty is short; the faults are noted.
        WhenItems::new(items).ok()
    })
}

fn sample(d: &mut Decoder, value: &Value<'_>) -> Option<Sample> {
    let number = d.number(value)?;
    match share(number) {
        Some(sample) => Some(sample),
        None => d.fault(&value.at, SHARE),
    }
}

fn completed(name: &str) -> Option<()> {
    (name == "completed").then_some(())
}

fn share(number: &Number) -> Option<Sample> {
    number.to_f64().and_then(Sample::new)
}

fn max_open(d: &mut Decoder, value: &Value<'_>) -> Option<MaxOpen> {
    let number = d.number(value)?.to_u64_exact();
    match number.and_then(|n| MaxOpen::new(u32::try_from(n).ok()?)) {
        Some(max_open) => Some(max_open),
        None => d.fault(&value.at, "must be a whole number from 1 to 10000"),
    }
}

/// `live` and the versions that are named, if there are any.
fn version_matches(versions: &WhenItems<Version>) -> Option<WhenItems<VersionMatch>> {
    let versions = versions.as_slice().iter().cloned();
    WhenItems::new(versions.map(VersionMatch::from).collect()).ok()
}

/// The parameters of `projects.judgingRules.results`.
pub(crate) const RESULTS: &[&str] = &["since"];

/// The parameters of `projects.judgingRules.preview`.
pub(crate) const PREVIEW: &[&str] = &[
    "agentIds",
    "flowIds",
    "versions",
    "status",
    "includeDryRuns",
    "sample",
    "last",
    "ruleId",
];

/// The query of `projects.judgingRules.preview`.
pub(crate) fn preview(query: &Query) -> Result<PreviewRule, Refusal> {
    let mut preview = PreviewRule::new(when_in(query)?);
    if let Some(sample) = query.number("sample", share, SHARE)? {
        preview.sample = sample;
    }
    // The engine says which numbers it takes.
    let last = |number: &Number| u16::try_from(number.to_u64_exact()?).ok();
    let must = "must be a whole number from 1 to 500";
    if let Some(last) = query.number("last", last, must)? {
        preview.last = last;
    }
    preview.rule = query.text("ruleId")?;
    Ok(preview)
}

/// A rule's `when`, its lists separated by commas.
fn when_in(query: &Query) -> Result<RuleWhen, Refusal> {
    let subjects = match (query.list("agentIds")?, query.list("flowIds")?) {
        (None, None) => WhenSubjects::Any,
        (Some(agents), None) => WhenSubjects::Agents(agents),
        (None, Some(flows)) => WhenSubjects::Flows(flows),
        (Some(_), Some(_)) => return Err(Refusal::bad_input("flowIds", NOT_BOTH)),
    };
    let versions = query.list("versions")?;
    let all_completed = |status: &str| status.split(',').try_for_each(completed);
    Ok(RuleWhen {
        subjects,
        versions: versions.and_then(|versions| version_matches(&versions)),
        says_completed: query.name("status", all_completed, COMPLETED)?.is_some(),
        include_dry_runs: query.bool("includeDryRuns")?,
    })
}
