//! The answers' JSON, as the API writes it: absent fields are left out, never `null`.

pub(crate) mod judge_classes;
pub(crate) mod judging_rules;
pub(crate) mod judgments;

use kindgi_core::{
    json::{ArrayWriter, ObjectWriter, Writer},
    model::Page,
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
        let next = page.next.as_ref().map(|next| binding.write(next));
        o.bool("hasMore", next.is_some());
        o.opt_str("nextCursor", next.as_deref());
    })
}

/// What became of removing or retiring something.
pub(crate) fn unregistered(name: &str, id: &str) -> String {
    Writer::object(|o| {
        o.str(name, id);
        o.bool("unregistered", true);
    })
}
