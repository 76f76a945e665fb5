import { type DocumentNode, parse } from "postgraphile/graphql";

/** The GraphQL operations of the moderators' pages. A test checks each against the schema and the limits. */

const VIEWER = "viewer { accountId name signInObstacle }";
const PAGE_INFO = "pageInfo { hasNextPage endCursor }";
const REASONS = "reasons(first: 50, orderBy: [RANK_ASC]) { nodes { code summary sentence } }";
const DECISIONS = `decisions(first: 50, orderBy: [PRIMARY_KEY_DESC]) {
  nodes { id action reason sentence createdAt offerId agentId moderator { name } }
}`;

const SOURCES = {
  queue: `query Queue($condition: ReviewCaseCondition, $after: Cursor) {
    ${VIEWER}
    queues(first: 20) { nodes { name cases oldest } }
    reviewCases(first: 25, after: $after, condition: $condition, orderBy: [REPORTS_DESC, OPENED_AT_ASC]) {
      ${PAGE_INFO}
      nodes { offerId queue causes reports openedAt heldUntil holder { accountId name }
        offer { title text status language price location change { title text price location rejectedAt } } }
    }
  }`,
  next: `query Next($condition: ReviewCaseCondition) {
    reviewCases(first: 10, condition: $condition, orderBy: [REPORTS_DESC, OPENED_AT_ASC]) { nodes { offerId heldBy offer { obstacle } } }
  }`,
  offer: `query Offer($id: UUID!) {
    ${VIEWER}
    ${REASONS}
    offer(id: $id) {
      id status title text images language domain category offerKind price location contact extraction missingFields
      reviewed reviewReason reviewNote createdAt updatedAt publishedAt removedAt suspendedAt obstacle
      account { id displayName createdAt verified suspendedAt offersActive offersLifetime offersRemoved }
      agent { id name removedAt }
      change { title text images language domain category offerKind contact extraction missingFields createdAt rejectedAt }
      reviewCase { queue causes reports openedAt heldUntil holder { accountId name } }
      reports(first: 50, orderBy: [PRIMARY_KEY_DESC]) { nodes { id reason comment createdAt completedAt accountId } }
      appeals(first: 10, orderBy: [PRIMARY_KEY_DESC]) { nodes { comment createdAt } }
      ${DECISIONS}
      similar(first: 8) { id title status createdAt accountId }
    }
  }`,
  account: `query Account($id: UUID!, $agentsAfter: Cursor, $offersAfter: Cursor, $asksAfter: Cursor) {
    ${VIEWER}
    ${REASONS}
    account(id: $id) {
      id displayName createdAt claimedAt verified suspendedAt suspensionReason suspensionNote
      offersActive offersLifetime offersRemoved offersRemovedBefore lastActiveAt
      limits { action cap earned }
      agents(first: 25, after: $agentsAfter, orderBy: [PRIMARY_KEY_DESC]) {
        ${PAGE_INFO} nodes { id name createdAt connectedAt removedAt } }
      offers(first: 25, after: $offersAfter, orderBy: [PRIMARY_KEY_DESC]) {
        ${PAGE_INFO} nodes { id title status createdAt reviewed } }
      asks(first: 25, after: $asksAfter, orderBy: [PRIMARY_KEY_DESC]) {
        ${PAGE_INFO} nodes { id title text status createdAt } }
      ${DECISIONS}
    }
  }`,
  settings: `query Settings {
    ${VIEWER}
    settings(first: 50) { nodes { name value summary least most changedAt changer { name } } }
    moderators(first: 50) { nodes { accountId name appointedAt appointedBy } }
  }`,
  search: `query Search($words: String!) {
    ${VIEWER}
    find(words: $words, first: 100) { kind id title status at offerId accountId }
  }`,
  audit: `query Audit($condition: AuditEventCondition, $after: Cursor) {
    ${VIEWER}
    auditEvents(first: 50, after: $after, condition: $condition, orderBy: [PRIMARY_KEY_DESC]) {
      ${PAGE_INFO}
      nodes { id at actorType accountId agentId sqlRole action tableName rowId subjectAccountId before after requestId }
    }
  }`,
  claim: "mutation Claim($id: UUID!) { claimCase(input: {offerId: $id}) { reviewCase { heldUntil } } }",
  release: "mutation Release($id: UUID!) { releaseCase(input: {offerId: $id}) { reviewCase { heldUntil } } }",
  keep: decision("keepOffer", "note"),
  restore: decision("restoreOffer", "note"),
  publish: decision("publishOffer", "note"),
  uphold: decision("upholdRemoval", "sentence"),
  remove: decisionWithReason("removeOffer"),
  reject: decisionWithReason("rejectOffer"),
  suspend: `mutation Suspend($id: UUID!, $reason: String, $words: String) {
    suspendAccount(input: {id: $id, reason: $reason, sentence: $words}) { account { suspendedAt } }
  }`,
  reinstate: `mutation Reinstate($id: UUID!, $words: String, $expected: Datetime) {
    reinstateAccount(input: {id: $id, note: $words, expectedSuspendedAt: $expected}) { account { suspendedAt } }
  }`,
  removeAgent: "mutation RemoveAgent($id: UUID!) { removeAgent(input: {id: $id}) { agent { removedAt } } }",
  overrideCap: `mutation OverrideCap($id: UUID!, $action: String!, $cap: Int, $expected: Int) {
    overrideCap(input: {accountId: $id, action: $action, cap: $cap, expectedCap: $expected}) { account { id } }
  }`,
  changeSetting: `mutation ChangeSetting($name: String!, $value: JSON!, $expected: JSON!) {
    changeSetting(input: {name: $name, value: $value, expectedValue: $expected}) { setting { value } }
  }`,
} as const;

function decision(name: string, words: "note" | "sentence"): string {
  return `mutation Decide($id: UUID!, $expected: Datetime!, $reports: Int, $words: String) {
    ${name}(input: {id: $id, expectedUpdatedAt: $expected, expectedReports: $reports, ${words}: $words}) { offer { status } }
  }`;
}

function decisionWithReason(name: string): string {
  return `mutation Decide($id: UUID!, $expected: Datetime!, $reports: Int, $reason: String, $words: String) {
    ${name}(input: {id: $id, expectedUpdatedAt: $expected, expectedReports: $reports, reason: $reason, sentence: $words}) { offer { status } }
  }`;
}

/** The name of an operation. */
export type OperationName = keyof typeof SOURCES;

/** The operations, parsed once, because Grafast caches the plan of an operation with its document. */
export const OPERATIONS = Object.fromEntries(
  Object.entries(SOURCES).map(([name, source]) => [name, parse(source)]),
) as Record<OperationName, DocumentNode>;
