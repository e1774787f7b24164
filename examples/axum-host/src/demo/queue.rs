//! A judging queue with something in it at the start.

use kindgi_core::{
    BoxError, Error,
    engine::{CreateJudgeClass, Engine, RuleSpec, Told},
    model::{
        ClassScope, JudgeClassId, PageRequest, PageSize, Position, Principal, ProjectId, RuleWhen,
        RunId, Weight,
    },
    store::ClassFilter,
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
/// an earlier start is used again.
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
    let scope = ClassScope::Project(project.clone());
    let filter = ClassFilter {
        scope: Some(scope.clone()),
    };
    let mut after = None;
    loop {
        let found = engine.judge_classes(admin, &filter, &page(after)).await?;
        let mut rows = found.rows.into_iter();
        if let Some(class) = rows.find(|class| class.name.as_str() == CLASS) {
            return Ok(class.id);
        }
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    let weight = Weight::new(3.0).ok_or("3 is a weight")?;
    let class = CreateJudgeClass::new(scope, CLASS.parse()?, weight);
    Ok(engine.create_judge_class(admin, class).await?.id)
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
    spec.class = Some(class(engine, admin, project).await?);
    engine.create_judging_rule(admin, project, spec).await?;
    Ok(())
}
