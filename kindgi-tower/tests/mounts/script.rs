//! The requests that every mount must answer alike, with what the API says of each.

use crate::{
    client::{Answer, Body, send},
    host::{OUTPUT, PROJECT, QUEUED, TOKEN},
    mount::{MAX_BODY, Mounted},
};

/// Sends every request in turn, and checks each answer on its own. Ids and times come from a
/// clock that stands still, so the answers of two mounts can be compared byte for byte.
pub(crate) fn answers(mounted: &Mounted) -> Vec<Answer> {
    let mut session = Session {
        mounted,
        answers: Vec::new(),
    };
    the_queue(&mut session);
    judge_and_read_back(&mut session);
    ids_in_the_path(&mut session);
    queries(&mut session);
    bodies(&mut session);
    other_routes(&mut session);
    refused_before_the_body(&mut session);
    session.answers
}

struct Session<'a> {
    mounted: &'a Mounted,
    answers: Vec<Answer>,
}

impl Session<'_> {
    /// As Ada, with JSON where there is a body.
    fn send(&mut self, method: &str, path: &str, body: &Body<'_>, status: u16) -> Answer {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [
            ("Authorization", &*bearer),
            ("Content-Type", "application/json"),
        ];
        self.send_with(method, path, &headers, body, status)
    }

    fn get(&mut self, path: &str, status: u16) -> Answer {
        self.send("GET", path, &Body::None, status)
    }

    fn send_with(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Body<'_>,
        status: u16,
    ) -> Answer {
        let target = format!("{}{path}", self.mounted.prefix);
        let answer = send(self.mounted.address, method, &target, headers, body);
        self.check(&format!("{method} {path}"), answer, status)
    }

    fn check(&mut self, request: &str, mut answer: Answer, status: u16) -> Answer {
        answer.request = request.to_owned();
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(
            answer.header("cache-control"),
            Some("no-store"),
            "{answer:?}"
        );
        assert!(answer.header("x-request-id").is_some(), "{answer:?}");
        if !request.starts_with("HEAD ") && status >= 400 {
            let id = answer.header("x-request-id").unwrap();
            let named = format!(r#""requestId":"{id}""#);
            assert!(
                answer.body.contains(&named),
                "the service's own refusal: {answer:?}"
            );
        }
        let mut alike = answer.clone();
        alike.request = without_cursors(&alike.request);
        alike.body = without_cursors(&alike.body);
        self.answers.push(alike);
        answer
    }
}

/// The text with a mark for each cursor: no two are sealed alike.
fn without_cursors(text: &str) -> String {
    let is_sealed = |word: &str| word.len() > 100 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let marked = words.map(|word| {
        let end = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        match is_sealed(end) {
            true => word.replace(end, "(cursor)"),
            false => word.to_owned(),
        }
    });
    marked.collect()
}

fn the_queue(session: &mut Session<'_>) {
    let queue = format!("/v1/projects/{PROJECT}/judging-queue");
    let rules = format!("/v1/projects/{PROJECT}/judging-rules");
    let page = session.get(&format!("{queue}?limit=1&state=open"), 200);
    assert_eq!(field(&page.body, "runId"), QUEUED[0], "{page:?}");
    assert!(page.body.ends_with(r#""total":3}"#), "{page:?}");
    let cursor = field(&page.body, "nextCursor");
    let rest = session.get(&format!("{queue}?state=open&cursor={cursor}"), 200);
    assert_eq!(rest.body.matches(r#""runId":"run-"#).count(), 2, "{rest:?}");
    let total = session.get(&format!("{queue}?limit=0&forMe=true"), 200);
    assert_eq!(total.body, r#"{"data":[],"hasMore":false,"total":3}"#);
    let none = format!("{queue}?addedAfter=2026-01-01T01:00:00.001%2B01:00&limit=0");
    let none = session.get(&none, 200);
    assert_eq!(none.body, r#"{"data":[],"hasMore":false,"total":0}"#);
    session.get(&format!("{queue}?addedAfter=2026-01-01T00:00:00"), 400);

    let first = format!("{queue}/run%201%2F%C3%A4");
    let reason = Body::Sized(r#"{"reason":"not for us"}"#);
    session.send(
        "POST",
        &format!("{first}/dismiss"),
        &Body::Chunked(&[r#"{"reason""#]),
        400,
    );
    let item = session.send("POST", &format!("{first}/dismiss"), &reason, 200);
    assert_eq!(field(&item.body, "reason"), "not for us");
    session.send("POST", &format!("{first}/dismiss"), &reason, 409);
    session.send("POST", &format!("{first}/reopen"), &Body::None, 200);
    session.send(
        "POST",
        &format!("{queue}/none/reopen"),
        &Body::Sized("{}"),
        404,
    );
    session.send(
        "POST",
        &format!("{queue}/run%201/%C3%A4/reopen"),
        &Body::None,
        404,
    );

    let list = session.get(&rules, 200);
    let rule = field(&list.body, "ruleId");
    let results = format!("{rules}/{rule}/results?since=2026-01-01T02:00:00%2B02:00");
    let results = session.get(&results, 200);
    assert_eq!(field(&results.body, "since"), "2026-01-01T00:00:00.000Z");
    assert!(
        results.body.contains(r#""added":3,"open":3,"#),
        "{results:?}"
    );
    let preview = format!("{rules}/preview?agentIds=acme.matcher%2Cother&last=2&ruleId={rule}");
    let preview = session.get(&preview, 200);
    assert_eq!(preview.body, r#"{"considered":2,"matched":2}"#);
    session.send("HEAD", &format!("{rules}/preview"), &Body::None, 200);
}

fn judge_and_read_back(session: &mut Session<'_>) {
    let body = r#"{"runId":"run 1/ä","item":{"key":"b","pointer":"/big"},"verdict":"yes"}"#;
    let made = session.send("POST", "/v1/judgments", &Body::Sized(body), 201);
    let id = field(&made.body, "id");

    let path = format!("/v1/judgments/{id}");
    let read = session.get(&path, 200);
    assert!(
        read.body.contains(OUTPUT),
        "the output is kept verbatim: {read:?}"
    );
    assert!(
        read.body.contains(r#""itemValue":18446744073709551616"#),
        "{read:?}"
    );

    let head = session.send("HEAD", &path, &Body::None, 200);
    assert_eq!(head.header("content-length"), read.header("content-length"));
    assert_eq!(head.header("content-type"), Some("application/json"));
    session.send("HEAD", "/v1/judgments", &Body::None, 200);

    let remove = format!("{path}/unregister");
    session.send("POST", &remove, &Body::None, 200);
    session.send("POST", &remove, &Body::Sized("{}"), 404);
}

fn ids_in_the_path(session: &mut Session<'_>) {
    let odd = session.get("/v1/judge-classes/a%2Fb%20c%2541", 200);
    assert_eq!(field(&odd.body, "id"), "a/b c%41");
    session.get("/v1/judge-classes/%61%2fb%20c%2541", 200);
    // Decoded once, never twice; `+` is no blank in a path.
    session.get("/v1/judge-classes/a%2Fb%20c%41", 404);
    session.get("/v1/judge-classes/a%2Fb+c%2541", 404);
    // A `/` that isn't escaped separates.
    let apart = session.get("/v1/judge-classes/a/b%20c%2541", 404);
    assert_eq!(field(&apart.body, "code"), "not-found");
    session.get("/v1/judge-classes/a%00", 400);
    session.get("/v1/judge-classes/%ff", 400);
}

fn queries(session: &mut Session<'_>) {
    for key in ["first", "second", "third"] {
        let body = format!(
            r#"{{"runId":"run 1/ä","item":{{"key":"{key}"}},"verdict":"no","participantId":"p&q=1"}}"#
        );
        session.send("POST", "/v1/judgments", &Body::Sized(&body), 201);
    }
    let filter = "runId=run%201%2F%C3%A4&participantId=p%26q%3D1";
    let page = session.get(&format!("/v1/judgments?{filter}&limit=2"), 200);
    assert_eq!(
        page.body.matches(r#""runId":"run 1/ä""#).count(),
        2,
        "{page:?}"
    );
    let cursor = field(&page.body, "nextCursor");
    let rest = session.get(
        &format!("/v1/judgments?limit=2&cursor={cursor}&{filter}"),
        200,
    );
    assert_eq!(rest.body.matches(r#""key":"first""#).count(), 1, "{rest:?}");
    assert!(rest.body.contains(r#""hasMore":false"#), "{rest:?}");

    session.get("/v1/judgments?runId=run+1%2f%c3%a4", 200);
    session.get("/v1/judgments?", 200);
    session.get("/v1/judgments?nope=1", 400);
    session.get("/v1/judgments?limit=", 400);
    session.get("/v1/judgments?runId=%ff", 400);
}

fn bodies(session: &mut Session<'_>) {
    let chunks = [
        r#"{"runId":"run-1","item":{"k"#,
        r#"ey":"c"},"verd"#,
        r#"ict":"yes"}"#,
    ];
    session.send("POST", "/v1/judgments", &Body::Chunked(&chunks), 201);

    // A body of just as much as is taken.
    let judgment = r#"{"runId":"run-1","item":{"key":"full"},"verdict":"yes"}"#;
    let blanks = " ".repeat(MAX_BODY - judgment.len());
    let full = format!("{judgment}{blanks}");
    session.send("POST", "/v1/judgments", &Body::Sized(&full), 201);
    session.send(
        "POST",
        "/v1/judgments",
        &Body::Chunked(&[judgment, &blanks]),
        201,
    );

    // The byte too many is answered without waiting for the end, which never comes.
    let over = [judgment, &blanks, " "];
    let refused = session.send("POST", "/v1/judgments", &Body::Unending(&over), 413);
    assert!(
        refused.body.contains(&format!(r#""maxBytes":{MAX_BODY}"#)),
        "{refused:?}"
    );
    let over = format!("{full} ");
    session.send("POST", "/v1/judgments", &Body::CutOff(1 << 40, &over), 413);

    session.send("POST", "/v1/judgments", &Body::None, 400);
    session.send(
        "POST",
        "/v1/judgments",
        &Body::Sized(r#"{"runId":"none"}"#),
        400,
    );
    let unknown = r#"{"runId":"none","item":{"key":"k"},"verdict":"yes"}"#;
    let unknown = session.send("POST", "/v1/judgments", &Body::Sized(unknown), 404);
    assert_eq!(field(&unknown.body, "code"), "run-not-found");
}

fn other_routes(session: &mut Session<'_>) {
    let Mounted {
        address, prefix, ..
    } = *session.mounted;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", &*bearer)];
    // The mount itself, without a slash where it has a name.
    let mount = if prefix.is_empty() { "/" } else { prefix };
    let answer = send(address, "GET", mount, &headers, &Body::None);
    session.check("the mount", answer, 404);
    // The absolute form, which RFC 9112 §3.2.2 makes every server accept.
    let absolute = format!("http://{address}{prefix}/v1/judgments?limit=1");
    let answer = send(address, "GET", &absolute, &headers, &Body::None);
    session.check("the absolute form", answer, 200);

    for path in [
        "/",
        "/v1",
        "/v1/nothing",
        "/v1/judgments/",
        "/v1//judgments",
        "/v1/judgments//unregister",
        "/v1/Judgments",
        "/v1/judge%2Dclasses",
        "/v1/projects//judging-queue",
        "/v1/projects/x/judging-queue//dismiss",
        "/v1/projects/x/judging-rules/preview/",
    ] {
        let answer = session.get(path, 404);
        assert_eq!(field(&answer.body, "code"), "not-found", "{answer:?}");
    }
    for (method, path, allow) in [
        ("DELETE", "/v1/judgments", "GET, HEAD, POST"),
        ("OPTIONS", "/v1/judgments", "GET, HEAD, POST"),
        ("POST", "/v1/judge-classes/x", "GET, HEAD, PATCH"),
        ("GET", "/v1/judgments/x/unregister", "POST"),
        ("HEAD", "/v1/judgments/x/unregister", "POST"),
        ("BREW", "/v1/judgments", "GET, HEAD, POST"),
        ("PATCH", "/v1/projects/x/judging-rules/preview", "GET, HEAD"),
        ("POST", "/v1/projects/x/judging-queue", "GET, HEAD"),
        ("GET", "/v1/projects/x/judging-queue/y/dismiss", "POST"),
    ] {
        let answer = session.send(method, path, &Body::None, 405);
        assert_eq!(answer.header("allow"), Some(allow), "{answer:?}");
    }
    session.send("HEAD", "/v1/nothing", &Body::None, 404);
}

fn refused_before_the_body(session: &mut Session<'_>) {
    let nobody = session.send_with("GET", "/v1/judgments", &[], &Body::None, 401);
    assert_eq!(nobody.header("www-authenticate"), Some("Bearer"));
    // Whoever may not call learns nothing of the cap, and needs no end of the body.
    session.send_with("POST", "/v1/judgments", &[], &Body::Unending(&["{"]), 401);

    let bearer = format!("Bearer {TOKEN}");
    let text = [("Authorization", &*bearer), ("Content-Type", "text/plain")];
    session.send_with("POST", "/v1/judgments", &text, &Body::Sized("{}"), 415);
}

/// The first string member of this name.
fn field(body: &str, name: &str) -> String {
    let (_, rest) = body.split_once(&format!(r#""{name}":""#)).expect(name);
    rest.split('"').next().unwrap().to_owned()
}
