//! Receipts of operations, in lines.

use super::{InvalidLine, fields::Fields, read, write};
use crate::{
    json::ObjectWriter,
    model::TenantId,
    store::{
        ClassCreated, ClassReplaced, ItemMoved, JudgmentRemoved, Receipt, Recorded, RuleAppended,
        RuleStopped,
    },
};

const RECORDED: &str = "recorded";
const REMOVED: &str = "judgmentRemoved";
const CREATED: &str = "classCreated";
const REPLACED: &str = "classReplaced";
const APPENDED: &str = "ruleAppended";
const STOPPED: &str = "ruleStopped";
const DISMISSED: &str = "dismissed";
const REOPENED: &str = "reopened";

/// Writes a receipt's members. What was refused leaves no receipt, so no outcome is written of it.
pub(super) fn write(o: &mut ObjectWriter<'_>, receipt: &Receipt) {
    let kind = match receipt {
        Receipt::Recorded(_) => RECORDED,
        Receipt::JudgmentRemoved(_) => REMOVED,
        Receipt::ClassCreated(_) => CREATED,
        Receipt::ClassReplaced(_) => REPLACED,
        Receipt::RuleAppended(_) => APPENDED,
        Receipt::RuleStopped(_) => STOPPED,
        Receipt::Dismissed(_) => DISMISSED,
        Receipt::Reopened(_) => REOPENED,
    };
    o.str("kind", kind);
    match receipt {
        Receipt::Recorded(Recorded::Ok {
            judgment,
            superseded,
        }) => {
            o.object("judgment", |o| write::judgment(o, judgment));
            o.opt_str("superseded", superseded.as_ref().map(|id| id.as_str()));
        }
        Receipt::JudgmentRemoved(removed) => o.bool("lived", *removed == JudgmentRemoved::Ok),
        Receipt::ClassCreated(ClassCreated::Ok(class))
        | Receipt::ClassReplaced(ClassReplaced::Ok(class)) => {
            o.object("class", |o| write::class(o, class));
        }
        Receipt::RuleAppended(RuleAppended::Ok(rule)) => {
            o.object("rule", |o| write::rule_version(o, rule));
        }
        Receipt::RuleStopped(stopped) => o.bool("lived", *stopped == RuleStopped::Ok),
        Receipt::Dismissed(ItemMoved::Ok(item)) | Receipt::Reopened(ItemMoved::Ok(item)) => {
            o.object("item", |o| write::item(o, item));
        }
        _ => {}
    }
}

/// From what [`write`] wrote.
pub(super) fn read(tenant: &TenantId, f: &mut Fields) -> Result<Receipt, InvalidLine> {
    let kind = f.required("kind")?;
    Ok(match &*kind.text()? {
        RECORDED => Receipt::Recorded(Recorded::Ok {
            judgment: Box::new(within(f, "judgment", |f| read::judgment(tenant, f))?),
            superseded: f.opt_parse("superseded")?,
        }),
        REMOVED => Receipt::JudgmentRemoved(match f.required("lived")?.truth()? {
            true => JudgmentRemoved::Ok,
            false => JudgmentRemoved::NotLive,
        }),
        CREATED => {
            let class = within(f, "class", |f| read::class(tenant, f))?;
            Receipt::ClassCreated(ClassCreated::Ok(Box::new(class)))
        }
        REPLACED => {
            let class = within(f, "class", |f| read::class(tenant, f))?;
            Receipt::ClassReplaced(ClassReplaced::Ok(Box::new(class)))
        }
        APPENDED => {
            let rule = within(f, "rule", |f| read::rule_version(tenant, f))?;
            Receipt::RuleAppended(RuleAppended::Ok(Box::new(rule)))
        }
        STOPPED => Receipt::RuleStopped(match f.required("lived")?.truth()? {
            true => RuleStopped::Ok,
            false => RuleStopped::NotLive,
        }),
        DISMISSED => Receipt::Dismissed(ItemMoved::Ok(Box::new(within(f, "item", read::item)?))),
        REOPENED => Receipt::Reopened(ItemMoved::Ok(Box::new(within(f, "item", read::item)?))),
        _ => return Err(kind.must("be a kind of receipt")),
    })
}

/// An object that is wholly read.
fn within<T>(
    f: &mut Fields,
    name: &str,
    read: impl FnOnce(&mut Fields) -> Result<T, InvalidLine>,
) -> Result<T, InvalidLine> {
    let mut inner = f.required(name)?.fields()?;
    let value = read(&mut inner)?;
    inner.end()?;
    Ok(value)
}
