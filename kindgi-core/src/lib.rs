//! Judgments on the outputs of AI runs: the domain, without HTTP and without a database.
//!
//! People say whether a run's answer was right: yes or no, why, on which part of the output, and
//! what the agent should have done. This crate holds what such a [judgment](model::Judgment) is,
//! who may make it, what a [backend](store) promises, and the suite that proves a backend keeps
//! its promise. To serve it over HTTP, mount `kindgi-tower`.
//!
//! ```
//! use async_trait::async_trait;
//! use kindgi_core::{HostError, MemoryStore, engine::{Engine, RecordJudgment}, host::*, model::*};
//! use kindgi_core::json::RawJson;
//!
//! struct Host;
//!
//! #[async_trait]
//! impl Runs for Host {
//!     async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
//!         let (id, version) = (id.clone(), "1.2.0".parse().map_err(HostError::new)?);
//!         let agent = "acme.matcher".parse().map_err(HostError::new)?;
//!         let project = "project-1".parse().map_err(HostError::new)?;
//!         let output = RawJson::parse(r#"{"score": 1.10}"#).map_err(HostError::new)?;
//!         let run = Run::new(id, project, Subject::Agent { id: agent, version });
//!         Ok(Some(run.completed_with(output)))
//!     }
//! }
//!
//! #[async_trait]
//! impl Permissions for Host {
//!     async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
//!         Ok(true)
//!     }
//!     async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
//!         Ok(Readable::All)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder(MemoryStore::new(), Host, Host).build();
//! let ada = Principal::user("acme".parse()?, "ada".parse()?);
//!
//! let item = Item::new("score".parse()?).with_pointer("/score".parse()?);
//! let verdict = RecordJudgment::new("run-1".parse()?, item, Verdict::Yes);
//! let judgment = engine.record_judgment(&ada, verdict).await?;
//!
//! let kept = engine.judgment(&ada, &judgment.id).await?;
//! assert_eq!(kept.item_value.unwrap().as_str(), "1.10"); // to the last digit
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go on
//!
//! - [The guide](guide): from a run to a judgment.
//! - [Writing a backend](backend), and the promise itself: [`store`].
//! - [What each operation costs](costs), in rows.
//! - [Time, ids and text](time_and_ids).
//!
//! # Features
//!
//! - `conformance`: the reference model, the laws and the macro that stamps them on a backend.
//!   Off unless asked for, since it brings `proptest` and `tokio`; meant for dev-dependencies.

pub mod archive;
pub mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod engine;
mod error;
pub mod host;
pub mod idempotency;
pub mod json;
pub mod memory;
pub mod model;
pub mod rate_limit;
pub mod rules;
pub mod store;

#[doc = include_str!("docs/guide.md")]
pub mod guide {}

#[doc = include_str!("docs/backend.md")]
pub mod backend {}

#[doc = include_str!("docs/costs.md")]
pub mod costs {}

#[doc = include_str!("docs/time_and_ids.md")]
pub mod time_and_ids {}

pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use error::{BoxError, Error, ErrorKind, HostError, HostErrorKind, StoreError, StoreErrorKind};
pub use memory::MemoryStore;
