//! One function for each operation: decode, ask the engine, write the answer. They hold no rules.

mod judge_classes;
mod judging_queue;
mod judging_rules;
mod judgments;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use kindgi_core::{Error, engine::Engine, model::Principal};

use crate::{
    cursor::{Binding, CursorKeys},
    decode::{params, query::Query},
    idempotency::{Begin, Hold, HoldSlot, IDEMPOTENCY_KEY, Routes, body_hash, key_of, operation},
    refusal::{Refusal, Stop},
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
    pub(crate) method: Method,
    /// Below the mount.
    pub(crate) path: String,
    pub(crate) hold: HoldSlot,
    pub(crate) cursor_keys: Arc<CursorKeys>,
    pub(crate) is_read: bool,
}

impl Call {
    /// The answer of the operation.
    pub(crate) async fn answer(self) -> Result<Answer, Stop> {
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
        let filters = params.chain(query.filters());
        let now = self.engine.clock().now();
        Binding::new(&self.cursor_keys, now, &self.who, self.found.path, filters)
    }

    /// Claims the request's idempotency key, if it has one: the last step before the engine.
    ///
    /// From here on the engine's write takes effect at most once while the key lives.
    async fn claim(mut self) -> Result<Self, Stop> {
        let key = key_of(&self.headers);
        let key = key.map_err(|message| Refusal::bad_input(IDEMPOTENCY_KEY, message))?;
        let Some(key) = key else {
            return Ok(self);
        };
        let method = self.method.as_str();
        let operation = operation(Routes::Service, &self.who, method, &self.path, key);
        let body = body_hash(&self.body);
        let store = self.engine.idempotency();
        let begun = Hold::begin(store, &self.who.tenant, operation, &body).await;
        match begun.map_err(|error| self.refused()(error.into()))? {
            Begin::Run(hold) => {
                self.engine = self.engine.keyed(operation, body);
                self.hold.put(hold, Some(self.engine.clone()));
                Ok(self)
            }
            Begin::Replay(answer) => Err(Stop::Replay(answer)),
            Begin::OtherBody => Err(Refusal::key_mismatch().into()),
            Begin::InFlight(retry_after) => Err(Refusal::key_in_flight(retry_after).into()),
            Begin::Withheld(status, at) => Err(Refusal::key_withheld(status, at).into()),
        }
    }

    fn refused(&self) -> impl Fn(Error) -> Refusal + use<> {
        let is_read = self.is_read;
        move |error| Refusal::from_engine(error, is_read)
    }
}
