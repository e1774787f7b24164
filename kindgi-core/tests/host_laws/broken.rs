//! A host, and what may be wrong with it.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use kindgi_core::{
    BoxError, HostError, Timestamp,
    conformance::host::{Host, HostUnderTest, TenantSamples},
    host::{ContextCapture, Directory, Permission, Permissions, RecentRuns, Runs},
    json::RawJson,
    model::{
        EndedRun, OrgId, Principal, PrincipalKind, ProjectId, Readable, Run, RunContext, RunId,
        RunStatus, Segment, Subject, TenantId,
    },
};

/// How long a race waits for others to come.
const PATIENCE: Duration = Duration::from_millis(100);

const ACME: &str = "acme-\u{e9}";
const UMBRELLA: &str = "Umbrella Corp";
const MATCHING: &str = "matching";
const CAFE: &str = "caf\u{e9}";
const HIRING: &str = "hiring";
const GONE: &str = "gone";
const ORG: &str = "org";
const OTHER_ORG: &str = "other-org";

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    ListsLess,
    ListsMore,
    ListsWhatIsGone,
    AllButWhatIsGone,
    ReadsWithoutListing,
    ReadsProjectsFolded,
    ListsOtherwiseEachTime,
    ReadsElsewhere,
    JudgesElsewhere,
    WritesElsewhere,
    AdministersElsewhere,
    PeopleOfAllTenants,
    KindOfPrincipalIgnored,
    StrangersReadAll,
    StrangersJudge,
    StrangersAreAdmins,
    RunHasAnotherId,
    RunIsOfNoProject,
    RunIsMissing,
    OutputChanges,
    InputChanges,
    SegmentsChange,
    RunsMixAtOnce,
    RunsOfAllTenants,
    RunsOfTheFirstTenant,
    ContextFails,
    ContextChanges,
    ContextsMixAtOnce,
    ProjectsOfAllTenants,
    KnowsAllProjects,
    KnowsWhatIsGone,
    MissesAProject,
    ProjectsFolded,
    KnowsWhatItWasAsked,
    OrgsOfAllTenants,
    OrgHasWhatIsGone,
    OrgHasAnothersProject,
    OrgChanges,
    OrgIsEmpty,
    UnknownOrgHasAll,
    RecentOldestFirst,
    RecentTwice,
    RecentRunning,
    RecentReplay,
    RecentStep,
    RecentUnknown,
    RecentOfAnotherStatus,
    RecentNone,
    RecentOneMore,
    RecentAtLeastOne,
    RecentOneLess,
    RecentFirstOnes,
    RecentOfAllProjects,
    RecentOfNoProject,
    RecentOfAllTenants,
    RunIdsTrimmed,
    RunIdsFolded,
    RunIdsComposed,
    RunIdsCut,
    LongIdsFail,
    QuotesFail,
    TenantsFolded,
    TenantsTrimmed,
    UnknownPeopleFail,
}

/// A host with a fault.
pub(crate) struct Broken(pub(crate) Fault);

impl HostUnderTest for Broken {
    type Guard = ();

    async fn build(&self) -> Result<((), Host), BoxError> {
        let house = self.house();
        let host = Host::new(house.clone(), house.clone())
            .directory(house.clone())
            .context_capture(house.clone())
            .recent_runs(house);
        let [acme, umbrella] = samples()?;
        let strangers = [
            Principal::user(UMBRELLA.parse()?, "ada".parse()?),
            Principal::service(ACME.parse()?, "ben".parse()?),
            Principal::user(ACME.parse()?, "eve".parse()?),
        ];
        let host = host.tenant(acme).tenant(umbrella).strangers(strangers);
        Ok(((), host))
    }
}

impl Broken {
    fn house(&self) -> Arc<House> {
        Arc::new(House {
            fault: self.0,
            runs: runs().unwrap(),
            asked: AtomicU64::new(0),
            known: Mutex::default(),
            inside: Mutex::new(0),
            came: Condvar::new(),
        })
    }

    /// Without a directory, recent runs and contexts.
    pub(crate) fn least(&self) -> Result<Host, BoxError> {
        let [acme, umbrella] = samples()?;
        let host = Host::new(self.house(), self.house());
        Ok(host.tenant(acme).tenant(umbrella))
    }
}

/// What a host names that names too little.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Named {
    Nothing,
    OneTenant,
    OneTenantTwice,
    NoPrincipal,
    NoProject,
    NoRun,
    ForeignPrincipal,
    GoneAndThere,
}

impl Named {
    pub(crate) const TOO_LITTLE: [Self; 8] = [
        Self::Nothing,
        Self::OneTenant,
        Self::OneTenantTwice,
        Self::NoPrincipal,
        Self::NoProject,
        Self::NoRun,
        Self::ForeignPrincipal,
        Self::GoneAndThere,
    ];
}

impl HostUnderTest for Named {
    type Guard = ();

    async fn build(&self) -> Result<((), Host), BoxError> {
        let house = Broken(Fault::None).house();
        let host = Host::new(house.clone(), house);
        let [acme, umbrella] = samples()?;
        let bare = TenantSamples::new(UMBRELLA.parse()?);
        let carl = Principal::user(UMBRELLA.parse()?, "carl".parse()?);
        let of_hiring =
            |samples: TenantSamples| Ok::<_, BoxError>(samples.projects([HIRING.parse()?]));
        let with_run = |samples: TenantSamples| Ok::<_, BoxError>(samples.runs(["run-1".parse()?]));
        let second = match self {
            Self::Nothing => return Ok(((), host)),
            Self::OneTenant => return Ok(((), host.tenant(acme))),
            Self::OneTenantTwice => acme.clone(),
            Self::NoPrincipal => with_run(of_hiring(bare)?)?,
            Self::NoProject => with_run(bare.principals([carl]))?,
            Self::NoRun => of_hiring(bare.principals([carl]))?,
            Self::ForeignPrincipal => {
                umbrella.principals([Principal::user(ACME.parse()?, "ada".parse()?)])
            }
            Self::GoneAndThere => umbrella.gone_projects([HIRING.parse()?]),
        };
        Ok(((), host.tenant(acme).tenant(second)))
    }
}

fn samples() -> Result<[TenantSamples; 2], BoxError> {
    let user =
        |tenant: &str, id: &str| Ok::<_, BoxError>(Principal::user(tenant.parse()?, id.parse()?));
    let ids = |tenant: &str| {
        let runs = runs()?
            .into_iter()
            .filter(|run| run.tenant.as_str() == tenant);
        Ok::<_, BoxError>(runs.map(|run| run.run.id).collect::<Vec<_>>())
    };
    let acme = TenantSamples::new(ACME.parse()?)
        .principals([user(ACME, "ada")?, user(ACME, "ben")?])
        .projects([MATCHING.parse()?, CAFE.parse()?])
        .gone_projects([GONE.parse()?])
        .orgs([ORG.parse()?])
        .runs(ids(ACME)?);
    let umbrella = TenantSamples::new(UMBRELLA.parse()?)
        .principals([user(UMBRELLA, "carl")?])
        .projects([HIRING.parse()?])
        .orgs([OTHER_ORG.parse()?])
        .runs(ids(UMBRELLA)?);
    Ok([acme, umbrella])
}

#[derive(Clone)]
struct Had {
    tenant: TenantId,
    run: Run,
    ended_at: i64,
    top_level: bool,
}

/// Oldest first.
fn runs() -> Result<Vec<Had>, BoxError> {
    let long = format!("{}\u{1d11e}", "x".repeat(255));
    let all = [
        (ACME, MATCHING, "run-1"),
        (ACME, MATCHING, "caf\u{e9}"),
        (ACME, CAFE, &*long),
        (ACME, MATCHING, "Running"),
        (ACME, MATCHING, "replay"),
        (ACME, MATCHING, "step"),
        (ACME, MATCHING, "failed"),
        (ACME, MATCHING, "last"),
        (UMBRELLA, HIRING, "run-1"),
        (UMBRELLA, HIRING, "theirs"),
    ];
    let had = |(ended_at, (tenant, project, id)): (i64, (&str, &str, &str))| {
        let id: RunId = id.parse()?;
        let agent = Subject::Agent {
            id: "agent".parse()?,
            version: "1".parse()?,
        };
        let run =
            Run::new(id.clone(), project.parse()?, agent).with_input(RawJson::parse(r#"{"a":1}"#)?);
        let done = run.clone().completed_with(RawJson::from_bool(true));
        let run = match id.as_str() {
            "Running" => run,
            "replay" => done.with_replay_of("run-1".parse()?),
            "failed" => done.with_status(RunStatus::Failed),
            _ => done,
        };
        Ok(Had {
            tenant: tenant.parse()?,
            run,
            ended_at,
            top_level: id.as_str() != "step",
        })
    };
    (0..).zip(all).map(had).collect()
}

struct House {
    fault: Fault,
    runs: Vec<Had>,
    asked: AtomicU64,
    known: Mutex<BTreeSet<ProjectId>>,
    /// How many ask at once.
    inside: Mutex<usize>,
    came: Condvar,
}

impl House {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// Counts questions, from zero.
    fn count(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::SeqCst)
    }

    /// Waits for another who asks, but not for ever: there may be nobody. Says if there is.
    fn meets_another(&self) -> bool {
        let mut inside = self.inside.lock().unwrap();
        *inside += 1;
        self.came.notify_all();
        let alone = |inside: &mut usize| *inside < 2;
        let (mut inside, _) = self
            .came
            .wait_timeout_while(inside, PATIENCE, alone)
            .unwrap();
        let met = *inside > 1;
        *inside -= 1;
        met
    }

    fn is(&self, tenant: &TenantId, own: &str) -> bool {
        match self.fault {
            Fault::TenantsFolded => tenant.as_str().to_lowercase() == own.to_lowercase(),
            Fault::TenantsTrimmed => tenant.as_str().trim() == own.trim(),
            _ => tenant.as_str() == own,
        }
    }

    fn projects(&self, tenant: &TenantId) -> BTreeSet<ProjectId> {
        let mut own: Vec<&str> = Vec::new();
        let all = self.has(Fault::ProjectsOfAllTenants);
        if self.is(tenant, ACME) || all {
            own.extend([MATCHING, CAFE]);
        }
        if self.is(tenant, UMBRELLA) || all {
            own.push(HIRING);
        }
        own.into_iter().map(|id| id.parse().unwrap()).collect()
    }

    fn readable(&self, who: &Principal) -> Readable {
        let only =
            |ids: &[&str]| Readable::Only(ids.iter().map(|id| id.parse().unwrap()).collect());
        let all_tenants = self.has(Fault::PeopleOfAllTenants);
        let in_acme = who.tenant.as_str() == ACME || all_tenants;
        let in_umbrella = who.tenant.as_str() == UMBRELLA || all_tenants;
        if who.kind != PrincipalKind::User && !self.has(Fault::KindOfPrincipalIgnored) {
            return only(&[]);
        }
        match who.id.as_str() {
            "ada" if in_acme => Readable::All,
            "ben" if in_acme => only(&[MATCHING]),
            "carl" if in_umbrella => only(&[HIRING]),
            _ => only(&[]),
        }
    }
}

#[async_trait]
impl Permissions for House {
    async fn allows(&self, who: &Principal, what: Permission<'_>) -> Result<bool, HostError> {
        let readable = self.readable(who);
        let is_stranger = readable.is_empty();
        if is_stranger && self.has(Fault::UnknownPeopleFail) {
            return Err(HostError::new("nobody knows them"));
        }
        let all = readable == Readable::All;
        let elsewhere = |project: &ProjectId| {
            let own = self.projects(&who.tenant);
            !is_stranger && !all && !own.contains(project)
        };
        Ok(match what {
            Permission::Read { project } => {
                let exists = self.projects(&who.tenant).contains(project);
                match self.fault {
                    Fault::AllButWhatIsGone if all => exists,
                    Fault::ReadsWithoutListing if !is_stranger => exists,
                    Fault::ReadsProjectsFolded if !all => {
                        let folded = project.as_str().to_lowercase();
                        readable.contains(&folded.parse().unwrap())
                    }
                    Fault::ReadsElsewhere if elsewhere(project) => true,
                    _ => readable.contains(project),
                }
            }
            Permission::Judge { project, .. } => {
                readable.contains(project)
                    || (self.has(Fault::JudgesElsewhere) && elsewhere(project))
                    || self.has(Fault::StrangersJudge)
            }
            Permission::Write { project } => {
                readable.contains(project)
                    || (self.has(Fault::WritesElsewhere) && elsewhere(project))
            }
            Permission::Admin { project } => {
                all && readable.contains(project)
                    || (self.has(Fault::AdministersElsewhere) && elsewhere(project))
            }
            Permission::AdminTenant => all || self.has(Fault::StrangersAreAdmins),
            _ => false,
        })
    }

    async fn readable_projects(&self, who: &Principal) -> Result<Readable, HostError> {
        let mut readable = self.readable(who);
        let is_stranger = readable.is_empty();
        if let Readable::Only(projects) = &mut readable {
            let mut lists = |id: &str| projects.insert(id.parse().unwrap());
            match self.fault {
                Fault::ListsMore if !is_stranger => _ = lists(CAFE),
                Fault::ListsWhatIsGone if !is_stranger => _ = lists(GONE),
                Fault::ListsOtherwiseEachTime if self.count() % 2 == 1 => _ = lists(CAFE),
                Fault::ListsLess => projects.clear(),
                _ => {}
            }
        }
        if is_stranger && self.has(Fault::StrangersReadAll) {
            readable = Readable::All;
        }
        Ok(readable)
    }
}

#[async_trait]
impl Runs for House {
    async fn run(&self, tenant: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        let text = id.as_str();
        if self.has(Fault::LongIdsFail) && text.len() > 1_000 {
            return Err(HostError::new("too long"));
        }
        if self.has(Fault::QuotesFail) && text.contains('\'') {
            return Err(HostError::new("an unterminated text"));
        }
        let compared = |text: &str| match self.fault {
            Fault::RunIdsTrimmed => text.trim().to_owned(),
            Fault::RunIdsFolded => text.to_lowercase(),
            Fault::RunIdsComposed => text.replace("e\u{301}", "\u{e9}"),
            Fault::RunIdsCut => text.chars().take(255).collect(),
            _ => text.to_owned(),
        };
        let own = |had: &&Had| match self.fault {
            Fault::RunsOfAllTenants => true,
            Fault::RunsOfTheFirstTenant => self.is(tenant, had.tenant.as_str()) || text == "run-1",
            _ => self.is(tenant, had.tenant.as_str()),
        };
        let own = self.runs.iter().filter(own);
        let same = |had: &&Had| compared(had.run.id.as_str()) == compared(text);
        let Some(found) = own.clone().find(same) else {
            return Ok(None);
        };
        let mut run = found.run.clone();
        match self.fault {
            Fault::RunHasAnotherId => run.id = "another".parse().unwrap(),
            Fault::RunIsOfNoProject => run.project = GONE.parse().unwrap(),
            Fault::RunIsMissing if text == "failed" => return Ok(None),
            Fault::OutputChanges => {
                run.output = Some(RawJson::from_bool(self.count().is_multiple_of(2)));
            }
            Fault::InputChanges => {
                // The same to whoever reads it as a value.
                let blank = " ".repeat(usize::try_from(self.count()).unwrap());
                run.input = RawJson::parse(format!(r#"{{"a":{blank} 1}}"#)).unwrap();
            }
            Fault::SegmentsChange if self.count() % 2 == 1 => {
                run.segments = vec![Segment::new("company", "x").unwrap()];
            }
            Fault::RunsMixAtOnce if self.meets_another() => run.output = Some(RawJson::null()),
            _ => {}
        }
        Ok(Some(run))
    }
}

#[async_trait]
impl ContextCapture for House {
    async fn capture(&self, _: &TenantId, run: &Run) -> Result<Option<RunContext>, HostError> {
        Ok(match self.fault {
            Fault::ContextFails if run.status == RunStatus::Failed => {
                return Err(HostError::new("no context"));
            }
            Fault::ContextChanges if self.count() % 2 == 1 => None,
            Fault::ContextsMixAtOnce if self.meets_another() => None,
            _ => Some(RunContext::of_replay(&run.id)),
        })
    }
}

#[async_trait]
impl Directory for House {
    async fn project_exists(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
    ) -> Result<bool, HostError> {
        let has = self.projects(tenant).contains(project);
        Ok(match self.fault {
            Fault::KnowsAllProjects => true,
            Fault::KnowsWhatIsGone => has || project.as_str() == GONE,
            Fault::MissesAProject => has && project.as_str() != CAFE,
            Fault::ProjectsFolded => {
                let folded = project.as_str().to_lowercase();
                has || self.projects(tenant).contains(&folded.parse().unwrap())
            }
            Fault::KnowsWhatItWasAsked => {
                let is_new = self.known.lock().unwrap().insert(project.clone());
                has || !is_new
            }
            _ => has,
        })
    }

    async fn projects_of_org(
        &self,
        tenant: &TenantId,
        org: &OrgId,
    ) -> Result<BTreeSet<ProjectId>, HostError> {
        let all = self.has(Fault::OrgsOfAllTenants);
        let mut projects = match org.as_str() {
            ORG if self.is(tenant, ACME) || all => self.projects(&ACME.parse().unwrap()),
            OTHER_ORG if self.is(tenant, UMBRELLA) || all => {
                self.projects(&UMBRELLA.parse().unwrap())
            }
            _ if self.has(Fault::UnknownOrgHasAll) => return Ok(self.projects(tenant)),
            _ => return Ok(BTreeSet::new()),
        };
        match self.fault {
            Fault::OrgHasWhatIsGone => _ = projects.insert(GONE.parse().unwrap()),
            Fault::OrgHasAnothersProject => _ = projects.insert(HIRING.parse().unwrap()),
            Fault::OrgChanges if self.count() % 2 == 1 => _ = projects.pop_last(),
            Fault::OrgIsEmpty => projects.clear(),
            _ => {}
        }
        Ok(projects)
    }
}

#[async_trait]
impl RecentRuns for House {
    async fn last_ended(
        &self,
        tenant: &TenantId,
        project: &ProjectId,
        last: u16,
    ) -> Result<Vec<EndedRun>, HostError> {
        if self.has(Fault::RecentNone) {
            return Ok(Vec::new());
        }
        let there = self.projects(tenant).contains(project);
        let of_project = |had: &&Had| match self.fault {
            Fault::RecentOfAllProjects => had.tenant == *tenant && there,
            Fault::RecentOfNoProject if !there => had.tenant == *tenant,
            Fault::RecentOfAllTenants => had.run.project == *project,
            _ => had.tenant == *tenant && had.run.project == *project,
        };
        let own = |run: &EndedRun| {
            (run.status != RunStatus::Running || self.has(Fault::RecentRunning))
                && (!run.replay || self.has(Fault::RecentReplay))
                && (run.top_level || self.has(Fault::RecentStep))
        };
        let had = self.runs.iter().rev().filter(of_project);
        let mut runs: Vec<EndedRun> = had.map(ended).filter(own).collect();
        let last = usize::from(last);
        let last = match self.fault {
            Fault::RecentOneMore => last + 1,
            Fault::RecentAtLeastOne => last.max(1),
            Fault::RecentOneLess => last.saturating_sub(1),
            _ => last,
        };
        if self.has(Fault::RecentFirstOnes) {
            runs.reverse();
            runs.truncate(last);
            runs.reverse();
        }
        runs.truncate(last);
        match (self.fault, runs.first().cloned()) {
            (Fault::RecentOldestFirst, _) => runs.reverse(),
            (Fault::RecentTwice, Some(first)) => runs.insert(0, first),
            (Fault::RecentUnknown, Some(mut first)) => {
                first.id = "unknown".parse().unwrap();
                runs.insert(0, first);
            }
            (Fault::RecentOfAnotherStatus, _) => {
                let all = runs.iter_mut();
                all.for_each(|run| run.status = RunStatus::Completed);
            }
            _ => {}
        }
        Ok(runs)
    }
}

fn ended(had: &Had) -> EndedRun {
    let at = Timestamp::UNIX_EPOCH.saturating_add_millis(had.ended_at);
    let Run {
        id,
        project,
        subject,
        ..
    } = had.run.clone();
    let mut ended = EndedRun::new(id, project, subject, at);
    ended.status = had.run.status;
    ended.replay = had.run.replay_of.is_some();
    ended.top_level = had.top_level;
    ended
}
