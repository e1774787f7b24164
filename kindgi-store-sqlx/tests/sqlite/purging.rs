//! What a purge leaves.

use std::num::NonZeroU16;

use kindgi_core::{
    model::{ClassScope, JudgeClass, Weight},
    store::{JudgeClassStore, JudgmentStore, Lifecycle, PurgePart, PurgePosition, Write},
};

use crate::support::{Folder, at, judgment, tenant};

#[tokio::test]
async fn a_retired_class_stays_while_a_dead_judgment_names_it() {
    let folder = Folder::new();
    let store = folder.store().await;
    let tenant = tenant();
    let write = Write {
        tenant: &tenant,
        now: at(10),
        operation: None,
    };
    let class = JudgeClass {
        id: "experts".parse().unwrap(),
        tenant: tenant.clone(),
        scope: ClassScope::Tenant,
        name: "experts".parse().unwrap(),
        weight: Weight::new(1.0).unwrap(),
        description: None,
        assertable_by: None,
        created_at: at(0),
        updated_at: at(0),
        unregistered_at: None,
    };
    store.create_class(write, &class).await.unwrap();
    let (mut new, copy) = judgment("a", "run", "key");
    new.judgment.class = Some(class.id.clone());
    store.record(write, &new, Some(&copy), None).await.unwrap();
    store.remove(write, &new.judgment.id).await.unwrap();
    let mut retired = class.clone();
    retired.unregistered_at = Some(at(5));
    store.replace_class(write, 1, &retired).await.unwrap();

    let purge = async |part, after| {
        let from = PurgePosition { part, after };
        let step = store.purge(write, at(6), Some(&from), NonZeroU16::MAX);
        step.await.unwrap().removed
    };
    assert_eq!(purge(PurgePart::Classes, None).await, 0);
    assert!(store.class(&tenant, &class.id).await.unwrap().is_some());
    assert_eq!(purge(PurgePart::Judgments, None).await, 1);
    assert_eq!(purge(PurgePart::Classes, None).await, 1);
    assert!(store.class(&tenant, &class.id).await.unwrap().is_none());
}
