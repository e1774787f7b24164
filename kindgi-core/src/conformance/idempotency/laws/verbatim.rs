//! Laws of what is kept.

use bytes::Bytes;
use proptest::{
    collection::vec,
    prelude::{Strategy, any},
};

use super::{KEPT, Key, LONG};
use crate::{
    conformance::{
        Report,
        idempotency::{KeyBackend, bench::Bench, generate::about},
        lab::Case,
        report::ensure,
    },
    idempotency::{Begun, KeptAnswer, Outcome},
};

/// An answer is given again as it was kept: the status, the headers in order with their repeats,
/// and all bytes of their values and of the body.
pub fn a_kept_answer_is_verbatim(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("a_kept_answer_is_verbatim", backend, |bench| {
        for answer in answers() {
            is_given_again(bench, &answer)?;
        }
        bench
            .lab
            .property(60, &any_answer(), |answer, _| is_given_again(bench, answer))
    })
}

fn is_given_again(bench: &Bench<'_>, answer: &KeptAnswer) -> Result<(), Report> {
    let key = Key::new(bench)?;
    key.kept(bench, answer, &[about(0)?])?;
    for by in [0, 1] {
        let is = bench.ask(&key.begin(by, LONG))?;
        let same = is == super::Answer::Begun(Begun::Replay(answer.clone()));
        // A large body is told by its length.
        ensure(same, || match answer.body.len() {
            0..100 => format!("{answer:?} was given again as {is:?}"),
            length => format!("an answer with a body of {length} bytes was given again otherwise"),
        })?;
    }
    Ok(())
}

/// Each has something that a store might not keep.
fn answers() -> Vec<KeptAnswer> {
    let header = |name: &str, value: &[u8]| (name.to_owned(), Bytes::copy_from_slice(value));
    let of = |headers, body: &[u8]| KeptAnswer {
        status: 200,
        headers,
        body: Bytes::copy_from_slice(body),
    };
    let large = |fill: fn(usize) -> u8| (0..1 << 20).map(fill).collect::<Vec<u8>>();
    let mut answers = vec![
        of(vec![], b""),
        of(
            vec![
                header("warning", b"b"),
                header("link", b"1"),
                header("warning", b"a"),
                header("link", b"1"),
                header("accept-ranges", b""),
            ],
            b"{}",
        ),
        of(
            vec![
                header("X-Cased", b" spaced\t, listed, "),
                header("x-latin", b"caf\xe9 \xff\x80"),
                header("x-utf", "\u{e9}e\u{301} \u{1f600}".as_bytes()),
                header("x-quoted", br#""\" '"#),
            ],
            b"\"",
        ),
        of(vec![], b"\0"),
        of(vec![], b"a\0b\r\n\0"),
        of(vec![], b"\xef\xbb\xbf{} \n"),
        of(vec![], b"\xff\xfe\x80 not text"),
        of(vec![], "x00e\u{301}\u{e9}\u{1d11e}\u{fffd}".as_bytes()),
        // What might be taken for a way of writing it down.
        of(vec![], b"x6162"),
        of(vec![], b"t"),
        of(vec![], b"null"),
        of(vec![], &large(|n| b"{\"text\": \"judged\"} "[n % 19])),
        of(vec![], &large(|n| (n * n % 251) as u8)),
    ];
    answers.extend([100, 204, 599, u16::MAX].map(|status| KeptAnswer {
        status,
        headers: Vec::new(),
        body: Bytes::new(),
    }));
    answers
}

fn any_answer() -> impl Strategy<Value = KeptAnswer> {
    let value = vec(any::<u8>(), 0..12).prop_map(Bytes::from);
    let headers = vec(("[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,8}", value), 0..6);
    let body = vec(any::<u8>(), 0..90).prop_map(Bytes::from);
    (any::<u16>(), headers, body).prop_map(|(status, headers, body)| KeptAnswer {
        status,
        headers,
        body,
    })
}

impl Case for KeptAnswer {
    fn fewer(&self) -> Vec<Self> {
        let without = |index| {
            let mut fewer = self.clone();
            fewer.headers.remove(index);
            fewer
        };
        (0..self.headers.len()).map(without).collect()
    }
}

/// Of an answer that is withheld, its status and its instant are told; it counts as any other.
pub fn a_withheld_answer_is_told_and_not_kept(backend: &impl KeyBackend) -> Result<(), Report> {
    Bench::hold("a_withheld_answer_is_told_and_not_kept", backend, |bench| {
        for status in [200, 201, 204] {
            let key = Key::new(bench)?;
            bench.begins(&key.begin(0, LONG), Begun::Run)?;
            bench.advance(7);
            let at = bench.now();
            let withheld = Outcome::Withheld { status };
            bench.expect(&key.complete(0, &withheld, &[about(1)?], LONG), &KEPT)?;
            bench.advance(LONG - 1);
            for by in [0, 1] {
                bench.begins(&key.begin(by, LONG), Begun::Withheld { status, at })?;
            }
            bench.expect(&key.forget(&about(1)?), &super::Answer::Forgotten)?;
            bench.begins(&key.begin(1, LONG), Begun::Run)?;
        }
        Ok(())
    })
}
