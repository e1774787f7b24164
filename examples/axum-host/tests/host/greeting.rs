//! The host says where it listens, and what to try.

use crate::{client::send, process::Host};

#[test]
fn it_listens_on_loopback_where_it_says_and_is_well() {
    let host = Host::start(&[]);
    assert!(host.address.ip().is_loopback());
    assert_ne!(host.address.port(), 0);
    assert_eq!(
        host.printed,
        format!("listening on http://{}\n", host.address)
    );
    let health = send(host.address, "GET", "/health", &[], "").expect(200);
    assert_eq!(health.body, r#"{"status":"ok"}"#);
}

#[test]
fn every_curl_line_works_when_pasted() {
    for variables in [&[][..], &[("MOUNT", "/kindgi")], &[("RUNS", "0")]] {
        let mut host = Host::start(variables);
        let address = host.address;
        let lines = host.greeting_lines();
        let curls: Vec<&String> = lines
            .iter()
            .filter(|line| line.starts_with("curl "))
            .collect();
        assert!(curls.len() >= 4, "{lines:?}");
        for line in curls {
            let words = shell_words(line);
            let mut headers = Vec::new();
            let (mut url, mut body) = ("", "");
            let mut rest = words.iter().skip(1);
            while let Some(word) = rest.next() {
                match word.as_str() {
                    "-s" => {}
                    "-H" => headers.push(rest.next().unwrap().split_once(": ").unwrap()),
                    "-d" => body = rest.next().unwrap(),
                    other => url = other,
                }
            }
            let target = url.strip_prefix(&format!("http://{address}")).unwrap();
            let method = if body.is_empty() { "GET" } else { "POST" };
            let answer = send(address, method, target, &headers, body);
            assert!(answer.status < 300, "{line}: {}", answer.body);
        }
    }
}

/// Words as a shell splits them, with single quotes and nothing more.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted, "{line}");
    words
}
