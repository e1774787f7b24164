//! A judging queue with something in it at the start.

use kindgi_core::{
    BoxError, Error, ErrorKind,
    engine::{CreateJudgeClass, Engine, RuleSpec, Told},
    model::{
        ClassScope, JudgeClassId, PageRequest, PageSize, Position, Principal, ProjectId, RuleWhen,
        RunId, Weight,
    },
    store::{ClassFilter, OperationId},
};
use tokio::task::JoinSet;

use super::{Demo, PROJECT};

/// Whose rule it is.
const ADMIN: &str = "test-token";
/// How many runs are told at once.
const AT_ONCE: usize = 64;
/// The class whose judgment the queue wants.
const CLASS: &str = "demo-expert";
/// The rule that fills the queue.
const RULE: &str = "Demo: every run, before an expert";

/// Makes a rule that wants a class of its own, and ends the first runs. What a database has from
/// an earlier start, or from another host that starts at the same time, is used again.
pub(crate) async fn fill(demo: &Demo, engine: &Engine, runs: u32) -> Result<(), BoxError> {
    let admin = demo
        .people
        .by_token(ADMIN)
        .map_err(|_| "the demo has no admin")?;
    let project: ProjectId = PROJECT.parse()?;
    rule(engine, admin, &project).await?;
    let mut telling = JoinSet::new();
    for n in 0..runs {
        let id: RunId = format!("run-{n}").parse()?;
        // There may be fewer.
        let Some(run) = demo.runs.get(&admin.tenant, &id) else {
            break;
        };
        // Those that are told at once share a commit.
        if telling.len() == AT_ONCE {
            told(&mut telling).await?;
        }
        let (engine, tenant) = (engine.clone(), admin.tenant.clone());
        telling.spawn(async move { engine.run_ended(&tenant, &run.ended()).await });
    }
    while !telling.is_empty() {
        told(&mut telling).await?;
    }
    Ok(())
}

/// Waits for one of the tellings.
async fn told(telling: &mut JoinSet<Result<Told, Error>>) -> Result<(), BoxError> {
    if let Some(told) = telling.join_next().await {
        told??;
    }
    Ok(())
}

/// A page as large as one may be.
fn page(after: Option<Position>) -> PageRequest {
    let size = PageSize::new(PageSize::MAX).unwrap_or_default();
    PageRequest { after, size }
}

/// The project's own class of that name, made if it isn't there.
async fn class(
    engine: &Engine,
    admin: &Principal,
    project: &ProjectId,
) -> Result<JudgeClassId, BoxError> {
    if let Some(class) = find_class(engine, admin, project).await? {
        return Ok(class);
    }
    let weight = Weight::new(3.0).ok_or("3 is a weight")?;
    let scope = ClassScope::Project(project.clone());
    let class = CreateJudgeClass::new(scope, CLASS.parse()?, weight);
    match engine.create_judge_class(admin, class).await {
        Ok(class) => Ok(class.id),
        // By another host, since we looked.
        Err(e) if e.kind() == ErrorKind::JudgeClassNameTaken => {
            let found = find_class(engine, admin, project).await?;
            found.ok_or_else(|| e.into())
        }
        Err(e) => Err(e.into()),
    }
}

async fn find_class(
    engine: &Engine,
    admin: &Principal,
    project: &ProjectId,
) -> Result<Option<JudgeClassId>, BoxError> {
    let filter = ClassFilter {
        scope: Some(ClassScope::Project(project.clone())),
    };
    let mut after = None;
    loop {
        let found = engine.judge_classes(admin, &filter, &page(after)).await?;
        let mut rows = found.rows.into_iter();
        if let Some(class) = rows.find(|class| class.name.as_str() == CLASS) {
            return Ok(Some(class.id));
        }
        after = found.next;
        if after.is_none() {
            return Ok(None);
        }
    }
}

/// Makes the rule, if it isn't there.
async fn rule(engine: &Engine, admin: &Principal, project: &ProjectId) -> Result<(), BoxError> {
    let mut after = None;
    loop {
        let found = engine.judging_rules(admin, project, &page(after)).await?;
        if found.rows.iter().any(|rule| rule.name.as_str() == RULE) {
            return Ok(());
        }
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    let mut spec = RuleSpec::new(RULE.parse()?, RuleWhen::default());
    let class = class(engine, admin, project).await?;
    // Several rules may have one name: of hosts that start at once, one makes it.
    let once = engine.keyed(operation(&class), [0; 32]);
    spec.class = Some(class);
    once.create_judging_rule(admin, project, spec).await?;
    Ok(())
}

/// The operation that makes the rule that wants this class.
fn operation(class: &JudgeClassId) -> OperationId {
    let mut id = *b"demo: the rule before an expert ";
    let places = (0..id.len()).cycle();
    for (place, byte) in places.zip(class.as_str().bytes()) {
        if let Some(of_id) = id.get_mut(place) {
            *of_id ^= byte;
        }
    }
    OperationId(id)
}
