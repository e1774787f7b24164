//! The answers' JSON, as the API writes it: absent fields are left out, never `null`.

pub(crate) mod judge_classes;
pub(crate) mod judging_queue;
pub(crate) mod judging_rules;
pub(crate) mod judgments;

use kindgi_core::{
    json::{ArrayWriter, ObjectWriter, Writer},
    model::{Page, Position},
};

use crate::cursor::Binding;

/// A page of a list.
pub(crate) fn page<T>(
    page: &Page<T>,
    binding: &Binding,
    row: impl Fn(&mut ObjectWriter<'_>, &T),
) -> String {
    Writer::object(|o| {
        o.array("data", |a: &mut ArrayWriter<'_>| {
            page.rows.iter().for_each(|each| a.object(|o| row(o, each)));
        });
        next(o, page.next.as_ref(), binding);
    })
}

/// Whether more follows, and where it begins.
fn next(o: &mut ObjectWriter<'_>, next: Option<&Position>, binding: &Binding) {
    let cursor = next.map(|next| binding.write(next));
    o.bool("hasMore", cursor.is_some());
    o.opt_str("nextCursor", cursor.as_deref());
}

/// What became of removing or retiring something.
pub(crate) fn unregistered(name: &str, id: &str) -> String {
    Writer::object(|o| {
        o.str(name, id);
        o.bool("unregistered", true);
    })
}
