//! Searches through a whole tree, in the order of its text.

use std::collections::HashSet;

use super::node::{Kind, Node};
use super::pointer::Pointer;
use super::string::Text;

impl Node {
    /// The first member, in the order of the text, whose name an earlier member of the same object has. Names
    /// compare unescaped.
    #[must_use]
    pub fn first_duplicate_key(&self) -> Option<Pointer> {
        search(self, |place| match place {
            Place::Key(key, seen) => !seen.insert(key),
            Place::Value(_) => false,
        })
    }

    /// The first string or member name, in the order of the text, that has a lone surrogate escape. A name with one
    /// stands in the pointer with U+FFFD in its place.
    #[must_use]
    pub fn first_lone_surrogate(&self) -> Option<Pointer> {
        search(self, |place| match place {
            Place::Key(key, _) => key.has_lone_surrogate(),
            Place::Value(node) => {
                matches!(node.kind(), Kind::String(text) if text.has_lone_surrogate())
            }
        })
    }
}

/// Where a search is: at a member's name, with the set of names seen in its object, or at a value.
enum Place<'a, 'b> {
    Key(&'a Text, &'b mut HashSet<&'a Text>),
    Value(&'a Node),
}

/// A container that is being walked through.
struct Level<'a> {
    node: &'a Node,
    /// How many of its values were taken.
    taken: usize,
    seen: HashSet<&'a Text>,
}

impl<'a> Level<'a> {
    fn new(node: &'a Node) -> Self {
        Self {
            node,
            taken: 0,
            seen: HashSet::new(),
        }
    }

    /// The next value, with its name if it is a member.
    fn take(&mut self) -> Option<(Option<&'a Text>, &'a Node)> {
        let next = match self.node.kind() {
            Kind::Array(items) => items.get(self.taken).map(|item| (None, item)),
            Kind::Object(members) => members
                .get(self.taken)
                .map(|(key, value)| (Some(key), value)),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => None,
        };
        self.taken += 1;
        next
    }
}

/// The pointer to the first place that `wanted` takes.
fn search<'a>(root: &'a Node, mut wanted: impl FnMut(Place<'a, '_>) -> bool) -> Option<Pointer> {
    if wanted(Place::Value(root)) {
        return Some(Pointer::root());
    }
    let mut levels = vec![Level::new(root)];
    while let Some(level) = levels.last_mut() {
        let Some((key, value)) = level.take() else {
            levels.pop();
            continue;
        };
        if key.is_some_and(|key| wanted(Place::Key(key, &mut level.seen)))
            || wanted(Place::Value(value))
        {
            return Some(path(&levels));
        }
        if matches!(value.kind(), Kind::Array(_) | Kind::Object(_)) {
            levels.push(Level::new(value));
        }
    }
    None
}

/// The pointer to the value each level took last.
fn path(levels: &[Level<'_>]) -> Pointer {
    let mut pointer = Pointer::root();
    for level in levels {
        let index = level.taken.saturating_sub(1);
        match level.node.kind() {
            Kind::Object(members) => {
                pointer.push(members.get(index).map_or("", |(key, _)| key.lossy()))
            }
            _ => pointer.push_index(index),
        }
    }
    pointer
}
