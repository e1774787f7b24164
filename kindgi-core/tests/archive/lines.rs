//! Records as lines of text, and back.

use kindgi_core::{
    Timestamp,
    archive::{check_first_line, first_line, from_line, to_line},
    json::{Pointer, RawJson},
    model::{
        AgentId, AssertableBy, AssertedBy, ClassProgress, ClassScope, Item, ItemState, JudgeClass,
        Judgment, PrincipalKind, ProjectId, QueueItem, Rank, ReviewerRole, RuleId, RuleWhen,
        RunContext, RunCopy, RunId, Sample, Segment, Subject, TakenBy, Verdict, Weight,
    },
    store::{
        ClassReplaced, ItemMoved, JudgmentRemoved, NewJudgment, OperationId, Receipt, Record,
        Recorded, Revised, RuleAppended, RuleStopped,
        archive::{
            CopyRecord, OperationRecord, PurgeRecord, RulesRecord, RunRecord, TellingRecord,
        },
    },
};
use proptest::{collection::vec, option, prelude::*};

/// Any id, with line breaks, quotes, and what looks like an escape.
fn id() -> BoxedStrategy<String> {
    prop_oneof![
        "[a-z]{1,5}",
        "[^\u{0}]{0,20}a",
        Just("\"\\u0041\\\n\r\t\u{2028}\u{85}\u{1f}\u{1d11e}\\".to_owned()),
    ]
    .boxed()
}

fn text<T: std::str::FromStr<Err: std::fmt::Debug> + std::fmt::Debug + Clone>() -> BoxedStrategy<T>
{
    id().prop_map(|id| id.parse::<T>().unwrap()).boxed()
}

fn time() -> BoxedStrategy<Timestamp> {
    let ends = prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0), Just(-1)];
    prop_oneof![any::<i64>(), ends]
        .prop_map(|millis| Timestamp::UNIX_EPOCH.saturating_add_millis(millis))
        .boxed()
}

/// Documents that a careless writer or reader changes.
fn document() -> BoxedStrategy<RawJson> {
    let odd = [
        "[1e400,-0,-0.0,1E+2,0.10e-7,18446744073709551616,9007199254740993]",
        r#"{"a":1,"a":2}"#,
        r#""\ud83d""#,
        r#"{"\ud83d":"\udc00\ud800","\u0061":"\u0000\u00e9\/"}"#,
        "{ \"b\" :\t[ ] ,\r\n\"a\":\n  null }",
        "1.10",
        "\"\u{2028}\u{feff}\"",
    ];
    let odd = proptest::sample::select(odd.to_vec()).prop_map(str::to_owned);
    let string = any::<String>().prop_map(|text| RawJson::string(&text).to_string());
    let leaf = prop_oneof![odd, string];
    let nested = (leaf, 0..200_usize).prop_map(|(leaf, depth)| {
        let (open, close) = ("[\n".repeat(depth), " ]".repeat(depth));
        format!("{open}{leaf}{close}")
    });
    nested
        .prop_map(|text| RawJson::parse(text).unwrap())
        .boxed()
}

fn subject() -> BoxedStrategy<Subject> {
    (any::<bool>(), id(), text())
        .prop_map(|(agent, id, version)| match agent {
            true => Subject::Agent {
                id: id.parse().unwrap(),
                version,
            },
            false => Subject::Flow {
                id: id.parse().unwrap(),
                version,
            },
        })
        .boxed()
}

fn judgment() -> BoxedStrategy<Judgment> {
    let item = (
        text(),
        option::of(id()),
        option::of(0..=kindgi_core::model::MAX_INTEGER),
    );
    let item = item.prop_map(|(key, name, rank)| Item {
        key,
        pointer: name.map(|name| Pointer::root().child(&name)),
        rank: rank.and_then(Rank::new),
    });
    let of = (text(), text(), text(), text(), subject(), item);
    let said = (
        any::<bool>(),
        option::of(text()),
        option::of(text()),
        any::<bool>(),
    );
    let by = (any::<bool>(), text(), option::of(text()));
    let times = (time(), option::of(time()), option::of(text()));
    (of, said, by, times)
        .prop_map(|(of, said, by, times)| {
            let (id, tenant, project, run, subject, item) = of;
            let (verdict, reason, class, restricted) = said;
            let (kind, author, participant) = by;
            let (created_at, unregistered_at, superseded_by) = times;
            Judgment {
                id,
                tenant,
                project,
                run,
                subject,
                item,
                verdict: Verdict::ALL[usize::from(verdict)],
                reason,
                correction: None,
                class,
                restricted,
                asserted_by: AssertedBy {
                    kind: PrincipalKind::ALL[usize::from(kind)],
                    id: author,
                },
                participant,
                created_at,
                unregistered_at,
                superseded_by,
            }
        })
        .boxed()
}

fn class() -> BoxedStrategy<JudgeClass> {
    let scope = (0..3, text::<ProjectId>(), text::<AgentId>());
    let scope = scope.prop_map(|(kind, project, agent)| match kind {
        0 => ClassScope::Tenant,
        1 => ClassScope::Project(project),
        _ => ClassScope::Agent(project, agent),
    });
    let weight = prop_oneof![Just(0.0), Just(f64::MAX), Just(5e-324), 0.0..1e300];
    let by = option::of(id()).prop_map(|id| {
        let id = id?.parse().unwrap();
        let kinds = vec![PrincipalKind::Service];
        AssertableBy::new(Some(ReviewerRole::Senior), kinds, vec![id]).ok()
    });
    let of = (
        text(),
        text(),
        scope,
        text(),
        weight,
        option::of(text()),
        by,
    );
    (of, time(), time(), option::of(time()))
        .prop_map(|(of, created, updated, ended)| JudgeClass {
            id: of.0,
            tenant: of.1,
            scope: of.2,
            name: of.3,
            weight: Weight::new(of.4).unwrap(),
            description: of.5,
            assertable_by: of.6,
            created_at: created,
            updated_at: updated,
            unregistered_at: ended,
        })
        .boxed()
}

fn rule() -> BoxedStrategy<kindgi_core::model::JudgingRule> {
    let whens = [
        "{}",
        r#"{"agentIds":["a\n","b"],"versions":["live","1"],"status":["completed"]}"#,
        r#"{"flowIds":["f"],"includeDryRuns":false}"#,
    ];
    let when = proptest::sample::select(whens.to_vec());
    let of = (text(), text(), text(), any::<u32>(), text(), when);
    let sample = prop_oneof![Just(1.0), Just(5e-324), 1e-9..1.0];
    let takes = (
        sample,
        option::of(1..10_000_u32),
        option::of(text()),
        any::<bool>(),
    );
    (of, takes, option::of(id()), time(), option::of(time()))
        .prop_map(
            |(of, takes, by, created_at, unregistered_at)| kindgi_core::model::JudgingRule {
                id: of.0,
                tenant: of.1,
                project: of.2,
                version: of.3,
                name: of.4,
                when: RuleWhen::from_json(&RawJson::parse(of.5).unwrap()).unwrap(),
                sample: Sample::new(takes.0).unwrap(),
                max_open: takes.1.and_then(kindgi_core::model::MaxOpen::new),
                class: takes.2,
                enabled: takes.3,
                created_by: by.map(|by| format!("user:{by}").parse().unwrap()),
                created_at,
                unregistered_at,
            },
        )
        .boxed()
}

fn item() -> BoxedStrategy<QueueItem> {
    let by = (text(), any::<u32>(), option::of(text()));
    let by = by.prop_map(|(rule, version, wants)| TakenBy {
        rule,
        version,
        wants,
    });
    let under = (option::of(text()), any::<u64>());
    let under = under.prop_map(|(class, judgments)| ClassProgress { class, judgments });
    let of = (text(), text(), option::of((text(), text())), text());
    let lists = (vec(by, 0..3), vec(under, 0..3));
    let ends = (
        0..4_usize,
        option::of(time()),
        option::of(id()),
        option::of(id()),
    );
    (of, lists, time(), time(), ends)
        .prop_map(|(of, lists, completed, added, ends)| QueueItem {
            run: of.0,
            project: of.1,
            agent: of.2,
            flow: of.3,
            completed_at: completed,
            added_at: added,
            taken_by: lists.0,
            progress: lists.1,
            state: ItemState::ALL[ends.0],
            closed_at: ends.1,
            closed_by: ends
                .2
                .map(|by| format!("service_account:{by}").parse().unwrap()),
            reason: ends.3.map(|reason| reason.parse().unwrap()),
        })
        .boxed()
}

fn receipt() -> BoxedStrategy<Receipt> {
    let recorded = (judgment(), option::of(text()));
    let recorded = recorded.prop_map(|(judgment, superseded)| {
        let judgment = Box::new(judgment);
        Receipt::Recorded(Recorded::Ok {
            judgment,
            superseded,
        })
    });
    let ends = [
        Receipt::JudgmentRemoved(JudgmentRemoved::Ok),
        Receipt::JudgmentRemoved(JudgmentRemoved::NotLive),
        Receipt::RuleStopped(RuleStopped::Ok),
        Receipt::RuleStopped(RuleStopped::NotLive),
    ];
    let moved = || item().prop_map(|item| ItemMoved::Ok(Box::new(item)));
    prop_oneof![
        recorded,
        proptest::sample::select(ends.to_vec()),
        class().prop_map(|it| {
            Receipt::ClassCreated(kindgi_core::store::ClassCreated::Ok(Box::new(it)))
        }),
        class().prop_map(|it| Receipt::ClassReplaced(ClassReplaced::Ok(Box::new(it)))),
        rule().prop_map(|it| Receipt::RuleAppended(RuleAppended::Ok(Box::new(it)))),
        moved().prop_map(Receipt::Dismissed),
        moved().prop_map(Receipt::Reopened),
    ]
    .boxed()
}

/// A receipt of this tenant's, as all are.
fn of_tenant(receipt: &mut Receipt, tenant: &kindgi_core::model::TenantId) {
    match receipt {
        Receipt::Recorded(Recorded::Ok { judgment, .. }) => judgment.tenant = tenant.clone(),
        Receipt::ClassCreated(kindgi_core::store::ClassCreated::Ok(class))
        | Receipt::ClassReplaced(ClassReplaced::Ok(class)) => class.tenant = tenant.clone(),
        Receipt::RuleAppended(RuleAppended::Ok(rule)) => rule.tenant = tenant.clone(),
        _ => {}
    }
}

fn run() -> BoxedStrategy<RunRecord> {
    let context = option::of(document()).prop_map(|document| {
        let text = format!("{{ \"retrieved\":\n{} }}", document?);
        Some(RunContext::from_stored(RawJson::parse(text).unwrap()))
    });
    let segments = option::of(vec("[^\u{0}]{0,9}x", 0..3)).prop_map(|values| {
        let values = values?;
        let segment = |value: &String| Segment::new("company", value).unwrap();
        Some(values.iter().map(segment).collect::<Vec<_>>())
    });
    let copy = (
        text(),
        subject(),
        document(),
        document(),
        context,
        segments,
        time(),
    );
    (text(), text::<RunId>(), any::<bool>(), option::of(copy))
        .prop_map(|(tenant, run, erased, copy)| {
            let copy = copy.map(|copy| CopyRecord {
                project: copy.0,
                copy: RunCopy {
                    run: run.clone(),
                    subject: copy.1,
                    input: copy.2,
                    output: copy.3,
                    context: copy.4,
                    segments: copy.5,
                    captured_at: copy.6,
                },
            });
            RunRecord {
                tenant,
                run,
                erased,
                copy,
            }
        })
        .boxed()
}

fn telling() -> BoxedStrategy<TellingRecord> {
    let of = (text(), text(), text(), option::of(text()));
    let skipped = vec((text::<RuleId>(), any::<u32>()), 0..3);
    (of, time(), time(), skipped, option::of(item()))
        .prop_map(|(of, told_at, age, skipped, item)| TellingRecord {
            tenant: of.0,
            run: of.1,
            project: of.2,
            told_at,
            age,
            agent_version: of.3,
            skipped,
            item,
        })
        .boxed()
}

fn record() -> BoxedStrategy<Record> {
    let class = (class(), any::<u64>());
    let judgment = (judgment(), option::of(document()));
    let rules = (text(), text(), any::<u64>());
    let operation = (
        text(),
        any::<[u8; 32]>(),
        any::<[u8; 32]>(),
        time(),
        receipt(),
    );
    prop_oneof![
        class.prop_map(|(value, revision)| Record::Class(Box::new(Revised { revision, value }))),
        rule().prop_map(|rule| Record::RuleVersion(Box::new(rule))),
        rules.prop_map(|(tenant, project, revision)| Record::Rules(RulesRecord {
            tenant,
            project,
            revision
        })),
        run().prop_map(|run| Record::Run(Box::new(run))),
        judgment.prop_map(
            |(judgment, item_value)| Record::Judgment(Box::new(NewJudgment {
                judgment,
                item_value
            }))
        ),
        telling().prop_map(|telling| Record::Telling(Box::new(telling))),
        (text(), time()).prop_map(|(tenant, before)| Record::Purge(PurgeRecord { tenant, before })),
        operation.prop_map(|(tenant, id, body, keep_until, mut receipt)| {
            of_tenant(&mut receipt, &tenant);
            Record::Operation(Box::new(OperationRecord {
                tenant,
                id: OperationId(id),
                body,
                keep_until,
                receipt,
            }))
        }),
    ]
    .boxed()
}

proptest! {
    #[test]
    fn a_record_is_read_as_it_was_written(record in record()) {
        let line = to_line(&record);
        prop_assert!(!line.contains(['\n', '\r']), "{}", line);
        prop_assert_eq!(from_line(&line), Ok(record));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = from_line(&text);
        let _ = check_first_line(&text);
    }

    /// A line that was cut, or of which a piece is gone, is another record or none; and never a panic.
    #[test]
    fn a_spoilt_line_is_read_or_refused(
        record in record(),
        cut in any::<prop::sample::Index>(),
        length in 0..40_usize,
    ) {
        let line: Vec<char> = to_line(&record).chars().collect();
        let at = cut.index(line.len());
        let end = line.len().min(at + length);
        let _ = from_line(&line[..at].iter().collect::<String>());
        let spoilt: String = line[..at].iter().chain(&line[end..]).collect();
        let _ = from_line(&spoilt);
    }

    /// No field may be left out silently, and none is passed over.
    #[test]
    fn each_field_counts(record in record()) {
        let line = RawJson::parse(to_line(&record)).unwrap();
        let members = line.members().unwrap();
        for (left_out, (name, _)) in members.iter().enumerate() {
            let rest = members.iter().enumerate().filter(|(place, _)| *place != left_out);
            let fewer = RawJson::object(|o| rest.for_each(|(_, (name, value))| o.raw(name.lossy(), value)));
            match from_line(fewer.as_str()) {
                Err(e) => prop_assert!(e.field() == name.lossy() || left_out == 0, "{}", e),
                Ok(other) => prop_assert_ne!(&other, &record),
            }
        }
        let all = |extra: &str| RawJson::object(|o| {
            members.iter().for_each(|(name, value)| o.raw(name.lossy(), value));
            o.null(extra);
        });
        for extra in ["unknown", "tenant"] {
            let refused = from_line(all(extra).as_str());
            let refused = refused.unwrap_err();
            prop_assert_eq!(refused.field(), extra);
        }
    }
}

const RUN: &str = r#"{"record":"run","tenant":"t","run":"r","erased":false,"copy":{"project":"p","subject":{"kind":"agent","id":"a","version":"1"},"input":"null","output":"{\n \"score\": 1.10}","capturedAt":0}}"#;

#[test]
fn a_line_is_as_the_docs_say() {
    let record = from_line(RUN).unwrap();
    let Record::Run(run) = &record else { panic!() };
    let output = &run.copy.as_ref().unwrap().copy.output;
    assert_eq!(output.as_str(), "{\n \"score\": 1.10}");
    assert_eq!(to_line(&record), RUN);
    assert_eq!(first_line(), r#"{"format":"kindgi-archive","version":1}"#);
    check_first_line(&first_line()).unwrap();
}

#[test]
fn a_wrong_field_is_named() {
    for (from, to, field) in [
        ("\"run\"", "\"rum\"", "record"),
        ("\"tenant\":\"t\"", "\"tenant\":\"\"", "tenant"),
        ("\"run\":\"r\"", "\"run\":7", "run"),
        ("false", "\"false\"", "erased"),
        ("\"capturedAt\":0", "\"capturedAt\":0.5", "copy.capturedAt"),
        (
            "\"capturedAt\":0",
            "\"capturedAt\":999999999999999",
            "copy.capturedAt",
        ),
        ("\"capturedAt\":0", "\"capturedAt\":0,\"x\":1", "copy.x"),
        (
            "\"capturedAt\":0",
            "\"capturedAt\":0,\"input\":\"1\"",
            "copy.input",
        ),
        ("\"capturedAt\":0", "\"at\":0", "copy.capturedAt"),
        ("\"input\":\"null\"", "\"input\":null", "copy.input"),
        ("\"input\":\"null\"", "\"input\":\" null\"", "copy.input"),
        ("\"input\":\"null\"", "\"input\":\"nul\"", "copy.input"),
        ("\"input\":\"null\"", "\"input\":\"\\ud800\"", "copy.input"),
        ("\"kind\":\"agent\"", "\"kind\":\"a\"", "copy.subject.kind"),
        ("\"output\"", "\"segments\":{},\"output\"", "copy.segments"),
        (
            "\"output\"",
            "\"context\":\"[]\",\"output\"",
            "copy.context",
        ),
        ("{\"record\"", "{{\"record\"", ""),
        ("{\"record\"", "[],{\"record\"", ""),
    ] {
        let line = RUN.replacen(from, to, 1);
        assert_ne!(line, RUN);
        let error = from_line(&line).unwrap_err();
        assert_eq!(error.field(), field, "{line}");
        let named = error.to_string();
        assert!(named.starts_with(&format!("`{field}` ")) || named.starts_with("the line "));
    }
    assert!(from_line("[]").is_err());
}

#[test]
fn another_first_line_is_refused() {
    for (line, field) in [
        ("", ""),
        ("{}", "format"),
        (r#"{"format":"other","version":1}"#, "format"),
        (r#"{"format":"kindgi-archive","version":2}"#, "version"),
        (r#"{"format":"kindgi-archive","version":"1"}"#, "version"),
        (
            r#"{"format":"kindgi-archive","version":1,"more":1}"#,
            "more",
        ),
    ] {
        assert_eq!(check_first_line(line).unwrap_err().field(), field, "{line}");
    }
}
