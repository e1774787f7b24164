//! Laws of texts and documents.

use super::{
    queue_text::{item_is_kept, items_compare},
    rule_text::{rule_is_kept, rules_compare},
};
use crate::{
    conformance::{
        Backend, Report,
        call::{Answer, Ask, Call},
        lab::Lab,
        report::{ensure, ensure_eq},
        scene::{Scene, at, first, operation},
        texts::{DOCUMENTS, near, near_of},
    },
    json::{Pointer, RawJson},
    model::{
        Args, ClassScope, CorrectedCall, Correction, JudgeClass, Judgment, Readable, RunContext,
        RunCopy, Segment, Subject, TenantId,
    },
    store::{Applied, ClassCreated, ClassFilter, JudgmentFilter, Recorded},
};

/// How many texts [`near`] tells apart.
const NEAR: u8 = 8;

/// A field of a judgment: how to set it, and how to ask for it.
type Field = (
    &'static str,
    fn(&mut Judgment, &str) -> Result<(), Report>,
    fn(&str) -> Result<(JudgmentFilter, Readable), Report>,
);

/// Those that tell one live judgment from another.
const KEYS: [Field; 4] = [
    (
        "item key",
        |it, text| set(&mut it.item.key, text),
        |_| any(),
    ),
    (
        "author",
        |it, text| set(&mut it.asserted_by.id, text),
        |_| any(),
    ),
    (
        "participant",
        |it, text| put(&mut it.participant, text),
        |text| filter(|it| put(&mut it.participant, text)),
    ),
    (
        "run",
        |it, text| set(&mut it.run, text),
        |text| filter(|it| put(&mut it.run, text)),
    ),
];

/// Those of a run, and the class.
const OTHERS: [Field; 5] = [
    (
        "agent",
        |it, text| subject(it, text, "1", false),
        |text| filter(|it| put(&mut it.agent, text)),
    ),
    (
        "agent version",
        |it, text| subject(it, "agent", text, false),
        |text| {
            filter(|it| {
                it.agent = Some("agent".parse()?);
                put(&mut it.agent_version, text)
            })
        },
    ),
    (
        "flow",
        |it, text| subject(it, text, "1", true),
        |text| filter(|it| put(&mut it.flow, text)),
    ),
    (
        "class",
        |it, text| put(&mut it.class, text),
        |text| filter(|it| put(&mut it.class, text)),
    ),
    (
        "project",
        |it, text| set(&mut it.project, text),
        |text| {
            Ok((
                JudgmentFilter::default(),
                Readable::Only([text.parse()?].into()),
            ))
        },
    ),
];

fn set<T: std::str::FromStr<Err = crate::model::InvalidText>>(
    field: &mut T,
    text: &str,
) -> Result<(), Report> {
    *field = text.parse()?;
    Ok(())
}

fn put<T: std::str::FromStr<Err = crate::model::InvalidText>>(
    field: &mut Option<T>,
    text: &str,
) -> Result<(), Report> {
    *field = Some(text.parse()?);
    Ok(())
}

fn subject(it: &mut Judgment, id: &str, version: &str, flow: bool) -> Result<(), Report> {
    let version = version.parse()?;
    it.subject = if flow {
        Subject::Flow {
            id: id.parse()?,
            version,
        }
    } else {
        Subject::Agent {
            id: id.parse()?,
            version,
        }
    };
    Ok(())
}

fn any() -> Result<(JudgmentFilter, Readable), Report> {
    Ok((JudgmentFilter::default(), Readable::All))
}

fn filter(
    set: impl FnOnce(&mut JudgmentFilter) -> Result<(), Report>,
) -> Result<(JudgmentFilter, Readable), Report> {
    let mut filter = JudgmentFilter::default();
    set(&mut filter)?;
    Ok((filter, Readable::All))
}

/// Texts are the same if their bytes are: case, accents, how these are composed, blanks at the
/// end, characters beyond the BMP and the last of 256 code points all count, wherever text is
/// looked up or compared.
pub fn text_compares_exactly(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("text_compares_exactly", backend, |lab| {
        for (of_key, field) in KEYS
            .iter()
            .map(|field| (true, field))
            .chain(OTHERS.iter().map(|field| (false, field)))
        {
            compares(&Scene::new(lab)?, of_key, field)
                .map_err(|report| report.with_context(format!("by {}", field.0)))?;
        }
        ids_compare(&Scene::new(lab)?)?;
        classes_compare(lab)?;
        rules_compare(lab, NEAR)?;
        items_compare(lab, NEAR)?;
        tenants_compare(lab)
    })
}

/// Judgments that differ in one field by little are apart, and found apart.
fn compares(scene: &Scene<'_>, of_key: bool, (name, set, ask): &Field) -> Result<(), Report> {
    for number in 0..NEAR {
        let run = if of_key {
            "run".to_owned()
        } else {
            format!("run{number}")
        };
        let mut new = scene.judgment(&format!("j{number}"), &run, 0)?;
        set(&mut new.judgment, &near("text", number))?;
        let mut copy = scene.copy(new.judgment.run.as_str(), &number.to_string())?;
        copy.subject = new.judgment.subject.clone();
        let apart = Recorded::Ok {
            judgment: Box::new(new.judgment.clone()),
            superseded: None,
        };
        let call = scene.record(new, Some(copy));
        scene.expect(&call, &Answer::Recorded(Applied::Done(apart)))?;
    }
    for number in 0..NEAR {
        let text = near("text", number);
        let (filter, readable) = ask(&text)?;
        let found = scene.live(&filter, &readable, first(100))?.rows;
        let found: Vec<String> = found
            .iter()
            .map(|judgment| judgment.id.to_string())
            .collect();
        let asks = filter != JudgmentFilter::default() || readable != Readable::All;
        let should_be = if asks {
            vec![format!("j{number}")]
        } else {
            (0..NEAR).rev().map(|number| format!("j{number}")).collect()
        };
        ensure_eq(
            &format!("the judgments by {name} {text:?}"),
            &found,
            &should_be,
        )?;
        if *name == "run" {
            let output = scene.read(&format!("j{number}"))?.run.output;
            ensure_eq(
                "the output of its run",
                &output,
                &RawJson::parse(number.to_string())?,
            )?;
        }
    }
    if *name == "run" {
        scene.ask(&scene.call(1, Ask::EraseRun(near("text", 1).parse()?)))?;
        for number in 0..NEAR {
            let ask = Ask::IsErased(near("text", number).parse()?);
            let is_erased = Call::reading(&scene.tenant, ask);
            scene.expect(&is_erased, &Answer::IsErased(number == 1))?;
            let output = scene.read(&format!("j{number}"))?.run.output;
            ensure_eq(
                "whether its output is gone",
                &output.is_null(),
                &(number == 1),
            )?;
        }
    }
    Ok(())
}

/// A judgment, and a class, is found by its id alone.
fn ids_compare(scene: &Scene<'_>) -> Result<(), Report> {
    let all = |number| number != 4;
    for number in (0..NEAR).filter(|number| all(*number)) {
        let id = near("id", number);
        let mut new = scene.judgment(&id, "run", 0)?;
        new.judgment.item.key = number.to_string().parse()?;
        scene.recorded(new, Some(scene.copy("run", "1")?))?;
        let class = scene.class(&id, &number.to_string(), 0)?;
        scene.ask(&scene.call(0, Ask::CreateClass(Box::new(class))))?;
    }
    for number in 0..NEAR {
        let id = near("id", number);
        let found = match scene.ask(&Call::reading(&scene.tenant, Ask::Judgment(id.parse()?)))? {
            Answer::Judgment(found) => found.map(|it| it.judgment.id.to_string()),
            _ => None,
        };
        let should_be = all(number).then(|| id.clone());
        ensure_eq("the judgment of an id", &found, &should_be)?;
        let found = match scene.ask(&Call::reading(&scene.tenant, Ask::Class(id.parse()?)))? {
            Answer::Class(found) => found.map(|it| it.value.id.to_string()),
            _ => None,
        };
        ensure_eq("the class of an id", &found, &should_be)?;
    }
    Ok(())
}

/// Names that differ by little aren't taken, and scopes that do are others.
fn classes_compare(lab: &Lab) -> Result<(), Report> {
    type Change = fn(&mut JudgeClass, u8) -> Result<(), Report>;
    let changes: [Change; 3] = [
        |it, number| set(&mut it.name, &near_of("name", number, 100)),
        |it, number| {
            it.scope = ClassScope::Project(near("p", number).parse()?);
            Ok(())
        },
        |it, number| {
            it.scope = ClassScope::Agent("p".parse()?, near("a", number).parse()?);
            Ok(())
        },
    ];
    for change in changes {
        let scene = Scene::new(lab)?;
        let mut all = Vec::new();
        for number in 0..NEAR {
            let mut class = scene.class(&format!("c{number}"), "name", 0)?;
            change(&mut class, number)?;
            let create = scene.call(0, Ask::CreateClass(Box::new(class.clone())));
            let ok = ClassCreated::Ok(Box::new(class.clone()));
            scene.expect(&create, &Answer::ClassCreated(Applied::Done(ok)))?;
            all.push(class);
        }
        for class in &all {
            let scope = Some(class.scope.clone());
            let found = scene
                .live_classes(&ClassFilter { scope }, &Readable::All, first(9))?
                .rows;
            let mut of_scope: Vec<_> = all
                .iter()
                .filter(|it| it.scope == class.scope)
                .cloned()
                .collect();
            of_scope.reverse();
            ensure_eq("the classes of a scope", &found, &of_scope)?;
        }
    }
    Ok(())
}

/// Tenants whose ids differ by little are others.
fn tenants_compare(lab: &Lab) -> Result<(), Report> {
    let stem = format!("{}-t", lab.tenant()?);
    let scenes = (0..NEAR).map(|number| {
        let tenant: TenantId = near(&stem, number).parse()?;
        Ok(Scene { lab, tenant })
    });
    let scenes = scenes.collect::<Result<Vec<_>, Report>>()?;
    for (number, scene) in scenes.iter().enumerate() {
        let copy = Some(scene.copy("run", &number.to_string())?);
        scene.recorded(scene.judgment("j", "run", 0)?, copy)?;
    }
    for (number, scene) in scenes.iter().enumerate() {
        let it = scene.read("j")?;
        ensure_eq("a judgment's tenant", &it.judgment.tenant, &scene.tenant)?;
        let output = RawJson::parse(number.to_string())?;
        ensure_eq("the output of a tenant's run", &it.run.output, &output)?;
    }
    Ok(())
}

/// Texts come back as they went in, with all that they may hold: quotes, control characters,
/// blanks around, any plane of Unicode, and as long as they may be.
pub fn text_is_kept_verbatim(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("text_is_kept_verbatim", backend, |lab| {
        let scene = Scene::new(lab)?;
        let odd = [
            " \t\r\n\u{b}'\"\\;--%_$1?{}\u{1}\u{7f}\u{85} x ".to_owned(),
            "\u{e9}e\u{301}\u{feff}\u{200d}\u{202e}\u{fdd0}\u{ffff}\u{10ffff}\u{1f469}\u{200d}\u{1f4bb}"
                .to_owned(),
            "null".to_owned(),
        ];
        for (number, text) in odd
            .into_iter()
            .chain((0..NEAR).map(|n| near("text", n)))
            .enumerate()
        {
            let long: String = text.chars().cycle().take(4000).collect();
            let long = format!("{}.", long.chars().take(3999).collect::<String>());
            let mut new = scene.judgment(&format!("j{number}"), "run", 0)?;
            let it = &mut new.judgment;
            it.run = text.parse()?;
            it.project = text.parse()?;
            it.participant = Some(text.parse()?);
            it.asserted_by.id = text.parse()?;
            it.class = Some(text.parse()?);
            it.item.key = text.parse()?;
            it.item.pointer = Some(Pointer::root().child(&text).child(""));
            it.reason = Some(long.parse()?);
            it.subject = Subject::Flow {
                id: text.parse()?,
                version: text.parse()?,
            };
            let tool: String = text.chars().take(200).collect();
            it.correction = Some(Correction::new(Vec::new(), vec![tool.parse()?])?);
            let mut copy = scene.copy(&text, "1")?;
            copy.subject = it.subject.clone();
            copy.segments = Some(vec![Segment::new("company", &text)?]);
            kept(&scene, new.judgment, new.item_value, copy)?;

            let name: String = text.chars().take(99).collect();
            let mut class = scene.class(
                &format!("c{number}"),
                &format!("{name}{number:>2}")
                    .chars()
                    .take(100)
                    .collect::<String>(),
                0,
            )?;
            class.description = Some(long.parse()?);
            class.scope = ClassScope::Agent(text.parse()?, text.parse()?);
            let create = scene.call(0, Ask::CreateClass(Box::new(class.clone())));
            scene.ask(&create)?;
            let found = scene.ask(&Call::reading(&scene.tenant, Ask::Class(class.id.clone())))?;
            let is = match found {
                Answer::Class(Some(found)) => Some(found.value),
                _ => None,
            };
            ensure(is.as_ref() == Some(&class), || {
                format!("{class:?} was read as {is:?}")
            })?;
            let number = u8::try_from(number).unwrap_or_default();
            rule_is_kept(&scene, number, &text)?;
            item_is_kept(&Scene::new(lab)?, number, &text)?;
        }
        Ok(())
    })
}

/// Documents come back byte for byte: the numbers' text, the escapes, the order of keys, keys
/// that repeat, white space.
pub fn json_is_kept_verbatim(backend: &impl Backend) -> Result<(), Report> {
    Lab::hold("json_is_kept_verbatim", backend, |lab| {
        let scene = Scene::new(lab)?;
        // Deep and long ones, which some parsers refuse.
        let deep = format!("{}{}", "[".repeat(3_000), "]".repeat(3_000));
        let long = format!("[\"{}\",0.10]", "\u{e9}".repeat(60_000));
        let documents = DOCUMENTS
            .iter()
            .map(|it| (*it).to_owned())
            .chain([deep, long]);
        for (number, document) in documents.enumerate() {
            let run = format!("run{number}");
            let mut new = scene.judgment(&format!("j{number}"), &run, 0)?;
            let document = RawJson::parse(document)?;
            new.item_value = Some(document.clone());
            let args = Args::new(RawJson::parse("{\"b\" : 1.0,\n\"a\":\"\\u0041\"}")?)?;
            let call = CorrectedCall {
                tool: "tool".parse()?,
                args,
            };
            new.judgment.correction = Some(Correction::new(vec![call], Vec::new())?);
            let mut copy = scene.copy(&run, "1")?;
            copy.input = document.clone();
            copy.output = document.clone();
            let context = RawJson::object(|o| o.raw("retrieved", &document));
            let context = RunContext::parse(&context);
            copy.context = Some(context.map_err(|e| Report::new(e.to_string()))?);
            kept(&scene, new.judgment, new.item_value, copy)?;
        }
        Ok(())
    })
}

/// Records, and reads in all ways there are.
fn kept(
    scene: &Scene<'_>,
    judgment: Judgment,
    item_value: Option<RawJson>,
    copy: RunCopy,
) -> Result<(), Report> {
    let number = u8::try_from(judgment.id.as_str().len()).unwrap_or_default();
    let id = judgment.id.clone();
    let new = crate::store::NewJudgment {
        judgment: judgment.clone(),
        item_value,
    };
    let mut call = scene.record(new.clone(), Some(copy.clone()));
    let mut own = operation(number, 1, at(100));
    own.id
        .0
        .iter_mut()
        .zip(id.as_str().bytes())
        .for_each(|(to, from)| *to = from);
    call.operation = Some(own);
    let ok = Recorded::Ok {
        judgment: Box::new(judgment.clone()),
        superseded: None,
    };
    scene.expect(&call, &Answer::Recorded(Applied::Done(ok.clone())))?;
    scene.expect(&call, &Answer::Recorded(Applied::Replayed(ok)))?;
    let it = scene.read(id.as_str())?;
    ensure_eq("the judgment", &it.judgment, &judgment)?;
    ensure_eq("the item's value", &it.item_value, &new.item_value)?;
    ensure_eq("the copy", &it.run, &copy)?;
    let filter = JudgmentFilter {
        run: Some(judgment.run.clone()),
        ..JudgmentFilter::default()
    };
    let listed = scene.live(&filter, &Readable::All, first(9))?.rows;
    ensure_eq("the judgments of its run", &listed, &vec![judgment])
}
