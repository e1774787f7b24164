"""What comes out of judging rules: results and previews."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from kindgi.client import NotFoundError

from .cases_errors import wire
from .cases_queue import classed, everything, finish, judge
from .cases_rules import create, project, sent
from .expect import refused, same, that
from .world import World


def results(world: World) -> None:
    """judgingRules.results: counts that add up, by rule version and agent version, and shares"""
    where, rules = project(world), world.client().projects.judging_rules
    label = classed(world, where)
    rule = create(world, where, maxOpen=3).rule_id
    same(sent(rules.results(where, rule)), {"ruleId": rule, "groups": []}, "of nothing")
    runs = [finish(world, where) for _ in range(5)]
    judge(world, runs[0], judgeClassId=label)
    judge(world, runs[0], "no", token="judge-token")
    queue = world.client().projects.judging_queue
    queue.dismiss(where, runs[1])
    found = rules.results(where, rule)
    (group,) = found.groups
    counts = (group.added, group.open, group.judged, group.dismissed, group.erased)
    same(counts, (3, 1, 1, 1, 0), "added, open, judged, dismissed, erased")
    same((group.rule_version, group.agent_version, group.skipped_by_cap), (1, "1.2.0", 2))
    same((group.judgments, group.runs_with_judgments), (2, 1), "judgments")
    that(group.yes_share is not None and abs(group.yes_share - 2 / 3) < 1e-12, "yesShare")
    by_class = [(count.judge_class_id, count.judgments, count.yes) for count in group.by_class]
    same(by_class, [(None, 1, 0), (label, 1, 1)], "byClass")
    # Another version of the rule, other versions of the agent, and a run that is erased.
    rules.update(where, rule, maxOpen=None)
    for version in ("2", "10"):
        finish(world, where, agentVersion=version)
    finish(world, where, flowId="acme.flow")
    world.erase_run(finish(world, where))
    found = rules.results(where, rule)
    places = [(group.rule_version, group.agent_version) for group in found.groups]
    same(places, [(2, "10"), (2, "2"), (2, None), (1, "1.2.0")], "order")
    for group in found.groups:
        states = group.open + group.judged + group.dismissed + group.erased
        same(group.added, states, f"added of {group.rule_version} {group.agent_version}")
    same(sum(group.added for group in found.groups), queue.list(where, limit=0).total, "added")
    same([group.yes_share for group in found.groups[:3]], [None] * 3, "shares of nothing")
    # Since the last item that there is, and since after it.
    last = everything(world, where)[-1].added_at
    late = rules.results(where, rule, since=last.isoformat())
    same(late.since, last, "since")
    that(1 <= sum(group.added for group in late.groups) < 7, "since widens or empties")
    same(rules.results(where, rule, since="9999-12-31T23:59:59.999-00:00").groups, [])
    # The weight of today counts, a retired class's too.
    world.client().judge_classes.update(label, weight=0)
    same(rules.results(where, rule).groups[-1].yes_share, 0, "a share without weight")
    world.client().judge_classes.update(label, weight=3)
    world.client().judge_classes.unregister(label)
    same(rules.results(where, rule).groups[-1].yes_share, 0.75, "a retired class's weight")
    rules.unregister(where, rule)
    same(len(rules.results(where, rule).groups), 4, "groups of a stopped rule")


def previewed(world: World) -> None:
    """judgingRules.preview: the runs that a rule would have taken, exactly or as an estimate"""
    where, rules = project(world), world.client().projects.judging_rules
    queue = world.client().projects.judging_queue
    rule = create(world, where, sample=0.4, when={"versions": ["live"]}).rule_id
    runs = [finish(world, where) for _ in range(40)]
    finish(world, where, agentId="b", via="named")
    finish(world, where, flowId="acme.flow", dryRun=True)
    finish(world, where, replayOf=runs[0])
    finish(world, where, parentRunId=runs[0])
    taken = queue.list(where, limit=0).total
    preview = partial(rules.preview, where)
    # One more is the run that the project came to be with.
    for fields, expected in (
        ({}, (43, 42)),
        ({"last": 1}, (1, 0)),
        ({"last": 1, "include_dry_runs": True}, (1, 1)),
        ({"last": 2, "agent_ids": "b,c"}, (2, 1)),
        ({"last": 2, "versions": "live", "agent_ids": "b"}, (2, 0)),
        ({"flow_ids": "acme.flow", "include_dry_runs": True}, (43, 1)),
        ({"flow_ids": "agent.turn", "status": "completed", "versions": "1.2.0"}, (43, 42)),
        ({"sample": 0.5}, (43, 21)),
        ({"sample": 1e-05}, (43, 0)),
        ({"last": 500, "agent_ids": "none"}, (43, 0)),
        ({"last": 42, "versions": "live", "sample": 0.4, "rule_id": rule}, (42, taken)),
    ):
        seen = preview(**fields)
        same((seen.considered, seen.matched), expected, str(fields))
    exact = [preview(sample=tenth / 10, rule_id=rule).matched for tenth in range(1, 11)]
    same(exact, sorted(exact), "raising the sample keeps what it took")
    same(exact[-1], 42, "all of it")
    refused(NotFoundError, 404, "judging-rule-not-found", partial(preview, rule_id="none"))
    same(queue.list(where, limit=0).total, taken, "a preview takes nothing")


def refusals(world: World) -> None:
    """What is wrong with what results and previews are asked is said with its field"""
    where = project(world)
    rule = create(world, where).rule_id
    root = f"/v1/projects/{quote(where, safe='')}/judging-rules"
    many = ",".join(map(str, range(51)))
    for path, field in (
        (f"{rule}/results?since=2026-01-01", "since"),
        (f"{rule}/results?limit=1", "limit"),
        ("preview?agentIds=a&flowIds=f", "flowIds"),
        (f"preview?agentIds={many}", "agentIds"),
        ("preview?flowIds=a,", "flowIds"),
        ("preview?versions=,", "versions"),
        ("preview?status=completed,failed", "status"),
        ("preview?includeDryRuns=yes", "includeDryRuns"),
        ("preview?sample=0", "sample"),
        ("preview?sample=1.5", "sample"),
        ("preview?sample=NaN", "sample"),
        ("preview?sample=abc", "sample"),
        ("preview?last=0", "last"),
        ("preview?last=501", "last"),
    ):
        error = wire(world, 400, "bad-input", "GET", f"{root}/{path}")
        same(error["details"].get("field"), field, path[:80])
    for token in ("project-token", "other-tenant-token"):
        theirs = world.client(token).projects.judging_rules
        for call in (partial(theirs.results, where, rule), partial(theirs.preview, where)):
            refused(NotFoundError, 404, "project-not-found", call)
    reads = world.client("reader-token").projects.judging_rules
    for unknown in ("none", "a/b", "?", "%", "preview"):
        reading = partial(reads.results, where, unknown)
        refused(NotFoundError, 404, "judging-rule-not-found", reading)
    same(reads.results(where, rule).groups, [], "to a reader")
    same(reads.preview(where).considered, 1, "to a reader")
    for method in ("POST", "PATCH"):
        answer = world.raw(method, f"{root}/preview")
        same((answer.status_code, answer.headers["allow"]), (405, "GET, HEAD"), method)


CASES = (results, previewed, refusals)
