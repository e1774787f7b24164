//! A team's story: a rule takes exactly the runs that it samples and has room for, people work
//! them off, and the results add up.

use kindgi_core::{
    model::{RuleId, RunId, Sample},
    rules::sampling,
};

use crate::process::Host;

const PROJECT: &str = "/v1/projects/00000000-0000-4000-8000-0000000000a1";
const MAX_OPEN: usize = 20;

/// The host with a class of experts, and a rule that puts half of the runs before one.
struct Story {
    host: Host,
    class: String,
    rule: String,
}

impl Story {
    fn begin(database: &str) -> Self {
        let host = Host::start(&[("DATABASE_URL", database)]);
        let scope = r#"{"kind":"project","projectId":"00000000-0000-4000-8000-0000000000a1"}"#;
        let class = format!(r#"{{"name":"expert","weight":3,"scope":{scope}}}"#);
        let class = host.post("/v1/judge-classes", "test-token", &class);
        let class = class.expect(201).text("/id");
        let rule = format!(
            r#"{{"name":"half","when":{{"versions":["live"]}},"sample":0.5,
                "maxOpen":{MAX_OPEN},"judgeClassId":"{class}"}}"#
        );
        let rule = host.post(&format!("{PROJECT}/judging-rules"), "test-token", &rule);
        let rule = rule.expect(201).text("/ruleId");
        Self { host, class, rule }
    }

    /// Whether the rule samples a run.
    fn samples(&self, run: &str) -> bool {
        let (rule, run): (RuleId, RunId) = (self.rule.parse().unwrap(), run.parse().unwrap());
        sampling::takes(Sample::new(0.5).unwrap(), &rule, &run)
    }

    fn end(&self, run: &str) {
        let body = format!(r#"{{"runId":"{run}"}}"#);
        self.host
            .post("/demo/runs", "test-token", &body)
            .expect(201);
    }

    /// The runs in a state, as the queue orders them.
    fn queue(&self, state: &str) -> Vec<String> {
        let target = format!("{PROJECT}/judging-queue?state={state}&limit=100");
        let page = self.host.get(&target, "judge-token").expect(200);
        let count = page.count("/data");
        assert_eq!(page.find("/total"), Some(count.to_string()));
        assert_eq!(page.find("/hasMore").as_deref(), Some("false"));
        (0..count)
            .map(|n| page.text(&format!("/data/{n}/runId")))
            .collect()
    }

    /// Dismisses or reopens; gives the state.
    fn move_item(&self, run: &str, how: &str) -> String {
        let target = format!("{PROJECT}/judging-queue/{run}/{how}");
        self.host
            .post(&target, "test-token", "{}")
            .expect(200)
            .text("/state")
    }

    /// A number of the results' first group.
    fn result(&self, name: &str) -> usize {
        let target = format!("{PROJECT}/judging-rules/{}/results", self.rule);
        let results = self.host.get(&target, "reader-token").expect(200);
        assert_eq!(results.count("/groups"), 1, "{}", results.body);
        let found = results.find(&format!("/groups/0/{name}"));
        found.unwrap().parse().unwrap()
    }
}

fn is_told_on(database: &str) {
    let story = Story::begin(database);
    // Ids in the order they end in, since several may be queued in one millisecond.
    let runs: Vec<String> = (0..100).map(|n| format!("story-{n:03}")).collect();
    for run in &runs {
        story.end(run);
    }
    let sampled: Vec<&String> = runs.iter().filter(|run| story.samples(run)).collect();
    let taken: Vec<String> = sampled.iter().take(MAX_OPEN).copied().cloned().collect();
    assert_eq!(story.queue("open"), taken);
    assert_eq!(story.result("added"), MAX_OPEN);
    let skipped = sampled.len() - MAX_OPEN;
    assert_eq!(story.result("skippedByCap"), skipped);
    let target = format!(
        "{PROJECT}/judging-rules/preview?versions=live&sample=0.5&ruleId={}",
        story.rule
    );
    let preview = story.host.get(&target, "reader-token").expect(200);
    assert_eq!(preview.find("/considered").as_deref(), Some("100"));
    assert_eq!(preview.find("/matched"), Some(sampled.len().to_string()));

    // An unclassified judgment shows, but isn't what the rule wants.
    let [judged, dismissed, reopened] = [0, 1, 2].map(|n| taken[n].as_str());
    story
        .host
        .judge(judged, "/matches/0", "judge-token")
        .expect(201);
    assert_eq!(story.queue("judged"), Vec::<String>::new());
    let body = format!(
        r#"{{"runId":"{judged}","item":{{"key":"k"}},"verdict":"no","judgeClassId":"{}"}}"#,
        story.class
    );
    story
        .host
        .post("/v1/judgments", "judge-token", &body)
        .expect(201);
    assert_eq!(story.move_item(dismissed, "dismiss"), "dismissed");
    assert_eq!(story.move_item(reopened, "dismiss"), "dismissed");
    assert_eq!(story.move_item(reopened, "reopen"), "open");

    assert_eq!(story.queue("judged"), [judged]);
    assert_eq!(story.queue("dismissed"), [dismissed]);
    let mut open = taken.clone();
    open.drain(..2);
    assert_eq!(story.queue("open"), open);

    // Two places are free again, and no more.
    let late: Vec<String> = (100..200).map(|n| format!("story-{n:03}")).collect();
    for run in &late {
        story.end(run);
    }
    let late: Vec<&String> = late.iter().filter(|run| story.samples(run)).collect();
    open.extend(late.iter().take(2).copied().cloned());
    assert_eq!(story.queue("open"), open);

    for (name, number) in [
        ("added", MAX_OPEN + 2),
        ("open", MAX_OPEN),
        ("judged", 1),
        ("dismissed", 1),
        ("erased", 0),
        ("skippedByCap", skipped + late.len() - 2),
        ("judgments", 2),
        ("runsWithJudgments", 1),
    ] {
        assert_eq!(story.result(name), number, "{name}");
    }
    // One yes that counts 1, one no that counts 3.
    let target = format!("{PROJECT}/judging-rules/{}/results", story.rule);
    let results = story.host.get(&target, "reader-token").expect(200);
    assert_eq!(results.find("/groups/0/yesShare").as_deref(), Some("0.25"));
    assert_eq!(results.text("/groups/0/agentVersion"), "1.2.0");
}

#[test]
fn the_story_is_told_in_memory() {
    is_told_on("memory:");
}

#[test]
fn the_story_is_told_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    is_told_on(&format!("sqlite:{}/story.db", folder.path().display()));
}

#[test]
fn erasing_a_run_takes_it_out_of_the_queue() {
    let host = Host::start(&[("SEED_QUEUE", "3")]);
    host.post("/demo/runs/run-1/erase", "test-token", "")
        .expect(200);
    let target = format!("{PROJECT}/judging-queue");
    let page = host.get(&target, "judge-token").expect(200);
    assert_eq!(page.count("/data"), 3);
    assert_eq!(page.text("/data/1/runId"), "run-1");
    assert_eq!(page.text("/data/1/state"), "erased");
    assert_eq!(page.find("/data/1/agentId"), None);
}
