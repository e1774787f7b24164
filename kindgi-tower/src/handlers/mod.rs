//! One function for each operation: decode, ask the engine, write the answer. They hold no rules.

mod judge_classes;
mod judging_queue;
mod judging_rules;
mod judgments;

use bytes::Bytes;
use http::HeaderMap;
use kindgi_core::{Error, engine::Engine, model::Principal};

use crate::{
    cursor::Binding,
    decode::{params, query::Query},
    refusal::Refusal,
    respond::Answer,
    route::{Found, Operation},
};

/// An authenticated request, with its body.
pub(crate) struct Call {
    pub(crate) engine: Engine,
    pub(crate) who: Principal,
    pub(crate) found: Found,
    pub(crate) query: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) is_read: bool,
}

impl Call {
    /// The answer of the operation.
    pub(crate) async fn answer(self) -> Result<Answer, Refusal> {
        match self.found.operation {
            Operation::ListJudgments => judgments::list(self).await,
            Operation::CreateJudgment => judgments::create(self).await,
            Operation::GetJudgment => judgments::get(self).await,
            Operation::UnregisterJudgment => judgments::unregister(self).await,
            Operation::ListJudgeClasses => judge_classes::list(self).await,
            Operation::CreateJudgeClass => judge_classes::create(self).await,
            Operation::GetJudgeClass => judge_classes::get(self).await,
            Operation::UpdateJudgeClass => judge_classes::update(self).await,
            Operation::UnregisterJudgeClass => judge_classes::unregister(self).await,
            Operation::ListJudgingRules => judging_rules::list(self).await,
            Operation::CreateJudgingRule => judging_rules::create(self).await,
            Operation::GetJudgingRule => judging_rules::get(self).await,
            Operation::UpdateJudgingRule => judging_rules::update(self).await,
            Operation::UnregisterJudgingRule => judging_rules::unregister(self).await,
            Operation::ListJudgingRuleVersions => judging_rules::versions(self).await,
            Operation::JudgingRuleResults => judging_rules::results(self).await,
            Operation::PreviewJudgingRule => judging_rules::preview(self).await,
            Operation::ListJudgingQueue => judging_queue::list(self).await,
            Operation::DismissJudgingItem => judging_queue::dismiss(self).await,
            Operation::ReopenJudgingItem => judging_queue::reopen(self).await,
        }
    }

    fn query(&self, known: &[&str]) -> Result<Query, Refusal> {
        Query::parse(self.query.as_deref(), known)
    }

    fn no_query(&self) -> Result<(), Refusal> {
        self.query(&[]).map(drop)
    }

    fn param<T>(&self, name: &str) -> Result<T, Refusal>
    where
        T: for<'t> TryFrom<&'t str, Error = kindgi_core::model::InvalidText>,
    {
        params::path(&self.found.params, name)
    }

    /// A cursor is bound to the operation's own path and what stands in it, so not to where the
    /// service is mounted.
    fn binding(&self, query: &Query) -> Binding {
        let params = self.found.params.iter();
        let params: Vec<_> = params
            .map(|(name, raw)| (&**name, params::decoded(raw)))
            .collect();
        let params = params.iter().map(|(name, value)| (*name, &**value));
        Binding::new(&self.who, self.found.path, params.chain(query.filters()))
    }

    fn idempotency_key(&self) -> Result<(), Refusal> {
        params::idempotency_key(&self.headers)
    }

    fn refused(&self) -> impl Fn(Error) -> Refusal + use<> {
        let is_read = self.is_read;
        move |error| Refusal::from_engine(error, is_read)
    }
}
