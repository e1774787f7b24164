//! The names of what is stored, and what stands for texts in it.

use std::fmt::Write;

use kindgi_core::{
    idempotency::About,
    model::{Principal, TenantId},
};
use sha2::{Digest, Sha256};

/// What all names begin with, unless said.
pub(crate) const PREFIX: &str = "kindgi";

/// A prefix as it is in names. Two never become one, and none holds a brace, by which Redis would
/// find another slot than ours.
pub(crate) fn plain(prefix: &str) -> String {
    let mut plain = String::with_capacity(prefix.len());
    for byte in prefix.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' => {
                plain.push(char::from(byte));
            }
            _ => hex_into(&mut plain, '%', &[byte]),
        }
    }
    plain
}

/// The three names of a store of idempotency keys. They share a hash tag, what is in braces, so a
/// cluster keeps them on one node.
pub(crate) fn of_keys(prefix: &str) -> [String; 3] {
    let prefix = plain(prefix);
    ["records", "ends", "index"].map(|what| format!("{{{prefix}:keys}}:{what}"))
}

/// What the names of callers begin with under a limit. Callers are spread over a cluster.
pub(crate) fn of_limit(prefix: &str, requests: u32) -> String {
    format!("{}:rate:{requests}:", plain(prefix))
}

/// What stands for a text: 16 bytes, which no two texts share that anybody could find.
pub(crate) type Short = [u8; 16];

pub(crate) fn tenant(tenant: &TenantId) -> Short {
    short(&["tenant", tenant.as_str()])
}

pub(crate) fn thing(about: &About) -> Short {
    match about {
        About::Run(run) => short(&["run", run.as_str()]),
        About::Participant(participant) => short(&["participant", participant.as_str()]),
    }
}

/// A caller's name under a limit.
pub(crate) fn caller(limit: &str, who: &Principal) -> String {
    let mut name = limit.to_owned();
    hex_into(
        &mut name,
        'c',
        &short(&[who.tenant.as_str(), who.kind.as_str(), who.id.as_str()]),
    );
    name
}

/// Of several texts, each with its length, so that they don't run into each other.
fn short(texts: &[&str]) -> Short {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    let hash: [u8; 32] = hash.finalize().into();
    let mut short = Short::default();
    for (byte, of) in short.iter_mut().zip(hash) {
        *byte = of;
    }
    short
}

fn hex_into(text: &mut String, mark: char, bytes: &[u8]) {
    text.push(mark);
    for byte in bytes {
        // Writing to a text doesn't fail.
        let _ = write!(text, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn no_prefix_moves_the_names_to_another_slot(prefix in ".{0,8}") {
            for name in of_keys(&prefix) {
                let tag = name.strip_prefix('{').and_then(|rest| rest.split_once('}'));
                let tag = tag.map(|(tag, _)| tag);
                prop_assert_eq!(tag, Some(&*format!("{}:keys", plain(&prefix))));
            }
            let has_brace = of_limit(&prefix, 1).contains(['{', '}']);
            prop_assert!(!has_brace);
        }

        #[test]
        fn two_prefixes_have_no_name_in_common(one in "[a:%{}é2]{0,4}", two in "[a:%{}é2]{0,4}") {
            prop_assume!(one != two);
            prop_assert_ne!(plain(&one), plain(&two));
            for name in of_keys(&one) {
                prop_assert!(!of_keys(&two).contains(&name));
            }
        }

        #[test]
        fn texts_dont_run_into_each_other(
            one in vec("[ab]{0,3}", 0..4),
            two in vec("[ab]{0,3}", 0..4),
        ) {
            prop_assume!(one != two);
            let of = |texts: &[String]| short(&texts.iter().map(|text| &**text).collect::<Vec<_>>());
            prop_assert_ne!(of(&one), of(&two));
        }
    }
}
