//! Of several faults of a body the first in order is answered, wherever in the text it is:
//! syntax, repeated keys, unknown fields, values.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::{block_on, common::App};

/// A member of a body.
#[derive(Clone, Debug)]
struct Member {
    /// In front of it: the pointer of its object.
    parent: &'static str,
    name: &'static str,
    text: String,
}

impl Member {
    fn pointer(&self) -> String {
        format!("{}/{}", self.parent, self.name)
    }
}

/// A field's valid text and some faulty ones.
const FIELDS: &[(&str, &str, &str, &[&str])] = &[
    (
        "",
        "runId",
        "\"run-1\"",
        &["1", "null", "\"\"", "\"a\\u0000\"", "[]"],
    ),
    (
        "/item",
        "key",
        "\"k\"",
        &["{}", "null", "\" \"", "\"\\u0000\""],
    ),
    (
        "/item",
        "pointer",
        "\"\"",
        &["1", "\"a\"", "\"/~\"", "null"],
    ),
    (
        "/item",
        "rank",
        "0",
        &["-1", "0.5", "\"0\"", "null", "1e400"],
    ),
    ("", "verdict", "\"no\"", &["\"maybe\"", "null", "true"]),
    ("", "reason", "\"so\"", &["1", "null", "\"\\u0000\""]),
    ("", "participantId", "\"p\"", &["\"\"", "null", "7"]),
];

/// All fields, some with a faulty value, and the pointers to those.
fn members() -> impl Strategy<Value = (Vec<Member>, Vec<String>)> {
    let field = |(parent, name, valid, faulty): &(
        &'static str,
        &'static str,
        &'static str,
        &'static [&'static str],
    )| {
        let (parent, name, valid) = (*parent, *name, *valid);
        let faulty = prop::option::weighted(0.2, select(*faulty));
        faulty.prop_map(move |faulty| {
            let text = faulty.unwrap_or(valid).to_owned();
            (Member { parent, name, text }, faulty.is_some())
        })
    };
    let fields: Vec<_> = FIELDS.iter().map(field).collect();
    fields.prop_map(|fields| {
        let faulty = fields
            .iter()
            .filter(|(_, faulty)| *faulty)
            .map(|(m, _)| m.pointer());
        let faulty = faulty.collect();
        (
            fields.into_iter().map(|(member, _)| member).collect(),
            faulty,
        )
    })
}

/// The members of one object, in the order of their places in the list.
fn object(members: &[Member], parent: &str) -> Vec<String> {
    let own = members.iter().filter(|member| member.parent == parent);
    own.map(|member| format!("\"{}\":{}", member.name, member.text))
        .collect()
}

/// The whole body, with the item at a place among the other members.
fn body(members: &[Member], item_at: usize) -> String {
    let mut parts = object(members, "");
    let item = format!("\"item\":{{{}}}", object(members, "/item").join(","));
    parts.insert(item_at.min(parts.len()), item);
    format!("{{{}}}", parts.join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_first_fault_in_order_is_answered(
        (members, faulty) in members(),
        order in any::<u64>(),
        item_at in 0_usize..6,
        repeated in prop::option::weighted(0.2, 0..FIELDS.len()),
        unknown in vec((select(&["", "/item"][..]), select(&["x", "y/z", "RunId"][..])), 0..3),
        broken in prop::bool::weighted(0.2),
    ) {
        let mut all = members;
        let mut unknown_names = Vec::new();
        for (at, (parent, name)) in unknown.into_iter().enumerate() {
            // Each name once in each object.
            if !all.iter().any(|member| member.parent == parent && member.name == name) {
                let text = ["null", "{\"a\":1}", "[[]]"][at].to_owned();
                all.push(Member { parent, name, text });
                unknown_names.push(format!("{parent}/{}", name.replace('/', "~1")));
            }
        }
        let repeated = repeated.map(|at| all[at].clone());
        if let Some(member) = &repeated {
            all.push(Member { text: "{}".to_owned(), ..member.clone() });
        }
        // Any order of the members.
        let mut seed = order;
        for at in (1..all.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            all.swap(at, usize::try_from(seed >> 33).unwrap() % (at + 1));
        }
        let mut text = body(&all, item_at);
        if broken {
            text.push(',');
        }

        let app = App::new();
        let answer = block_on(app.record("judge", &text));
        if broken {
            answer.refused_at("bad-input", "");
        } else if let Some(member) = repeated {
            answer.refused_at("bad-input", &member.pointer());
        } else if !unknown_names.is_empty() {
            let answer = answer.refused("unknown-field");
            let fields = answer.raw("/error/details/fields").unwrap().items().unwrap();
            let mut fields: Vec<String> =
                fields.iter().map(|field| field.as_text().unwrap().as_str().unwrap().to_owned()).collect();
            prop_assert_eq!(answer.field(), fields.first().cloned());
            fields.sort();
            unknown_names.sort();
            prop_assert_eq!(fields, unknown_names);
        } else if faulty.is_empty() {
            answer.is(201);
        } else {
            let answer = answer.refused("bad-input");
            prop_assert!(faulty.contains(&answer.field().unwrap()), "{faulty:?} {}", answer.body);
        }
    }
}
