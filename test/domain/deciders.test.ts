/**
 * For every decider: `evolve` accepts any event of its category in any state. `decide` changes neither the
 * state nor the command. A command that is repeated at once is refused or records nothing, unless each
 * repetition is meant to count.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { audits } from '../../src/domain/audit/audit.ts'
import { confirmations } from '../../src/domain/confirmations/confirmation.ts'
import { customRoles } from '../../src/domain/custom-roles/custom-roles.ts'
import { customers } from '../../src/domain/customers/customer.ts'
import type { Decider } from '../../src/domain/decider.ts'
import { deliveries } from '../../src/domain/deliveries/delivery.ts'
import { type Category, type EventOf, eventsOf } from '../../src/domain/events.ts'
import { integrations } from '../../src/domain/integrations/integration.ts'
import { licenses } from '../../src/domain/licenses/license.ts'
import { undoableLicenses } from '../../src/domain/licenses/undoable.ts'
import { links } from '../../src/domain/links/link.ts'
import { logins } from '../../src/domain/logins/login.ts'
import { mails } from '../../src/domain/mails/mail.ts'
import { wordings } from '../../src/domain/mails/wordings.ts'
import { members } from '../../src/domain/members/member.ts'
import { meters } from '../../src/domain/meters/decide.ts'
import { notaryLogs } from '../../src/domain/notary/notary-log.ts'
import { portals } from '../../src/domain/portal/portal.ts'
import { defaultKeyType } from '../../src/domain/products/key-type.ts'
import { products } from '../../src/domain/products/product.ts'
import { replays } from '../../src/domain/replays/replay.ts'
import { resellers } from '../../src/domain/resellers/reseller.ts'
import { sales } from '../../src/domain/sales/sale.ts'
import { scims } from '../../src/domain/scim/scim.ts'
import { signInProviders } from '../../src/domain/sign-in-providers/provider.ts'
import { signingKeys } from '../../src/domain/signing/signing.ts'
import { subjects } from '../../src/domain/subjects/subject.ts'
import { clientKeys } from '../../src/domain/tenants/client-keys.ts'
import { tenants } from '../../src/domain/tenants/tenant.ts'
import { testPurchases } from '../../src/domain/test-purchases/test-purchase.ts'
import { tokens } from '../../src/domain/tokens/token.ts'
import { trials } from '../../src/domain/trials/trial.ts'
import { webhooks } from '../../src/domain/webhooks/webhook.ts'
import { customRoleCommands } from './custom-roles/samples.ts'
import { customerCommands } from './customers/samples.ts'
import { outcomeOf } from './given.ts'
import { goldenData, goldenEvents } from './golden.ts'
import { at, instanceCommands, later, nextEnd, terms } from './licenses/license-samples.ts'
import { sharingCommands } from './licenses/sharing-samples.ts'
import { wordingCommands } from './mails/samples.ts'
import { meterCommands } from './meters/meter-samples.ts'
import { notaryCommands } from './notary/samples.ts'
import { resellerCommands } from './resellers/samples.ts'
import { scimCommands } from './scim/samples.ts'
import { signInCommands } from './sign-in-providers/samples.ts'
import { tokenCommands } from './tokens/samples.ts'

type Laws = {
  name: string
  category: Category
  takesAnyEvent: () => void
  decidesPurely: () => void
  /** The commands that record something each time they are repeated. */
  repeating: () => Set<string>
}

/** @param commands at least one of each type */
function lawsOf<State, Command extends object, C extends Category>(
  name: string,
  { category, initial, decide, evolve }: Decider<State, Command, C>,
  commands: readonly Command[],
): Laws {
  const events = goldenEvents(category).map(frozen)
  const histories = fc.array(fc.constantFrom(...events), { maxLength: 12 })
  const after = (history: readonly EventOf<C>[], state = initial) =>
    history.reduce((before, event) => frozen(evolve(before, event)), state)
  const typeOf = (command: Command) => ('type' in command ? String(command.type) : 'its only command')
  return {
    name,
    category,
    takesAnyEvent: () => fc.assert(fc.property(histories, (history) => void after(history))),
    decidesPurely: () =>
      fc.assert(
        fc.property(histories, fc.constantFrom(...commands.map(frozen)), (history, command) => {
          const state = after(history)
          const outcome = outcomeOf(() => decide(state, command))
          expect(outcomeOf(() => decide(state, command))).toStrictEqual(outcome)
        }),
      ),
    repeating: () => {
      const found = new Set<string>()
      fc.assert(
        fc.property(histories, fc.constantFrom(...commands.map(frozen)), (history, command) => {
          const state = after(history)
          const first = outcomeOf(() => decide(state, command))
          if (!('events' in first) || first.events.length === 0) return
          const second = outcomeOf(() => decide(after(first.events, state), command))
          if ('events' in second && second.events.length > 0) found.add(typeOf(command))
        }),
        { numRuns: 5000 },
      )
      return found
    },
  }
}

/** Frozen, so that a function that changes its arguments fails. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) frozen(inner)
  }
  return value
}

const device = { deviceId: 'laptop', instanceId: 'ins_1', installId: null, name: 'Laptop', platform: null }
const tenantId = 'acme'
const { stage } = goldenData('testpurchase', 'StageDone')
const saleFacts = goldenEvents('notice').flatMap((event) =>
  event.type === 'NoticeKept' ? [event.data.fact] : [],
)
const link = goldenData('notice', 'LinkBound')
const request = goldenData('confirmation', 'ConfirmationRequested')
const { at: _, ...gated } = request
const { kid, publicKey, secretName } = goldenData('signing', 'SigningKeyPublished')
const published = { kid, publicKey, secretName }
const consumed = { tokenId: request.tokenId, requestHash: request.requestHash }
const asked = { tenantId, memberId: 'mem_1', clientName: 'CI', scopesAsked: [], at }
const anybody = { anotherMember: false, requestedBy: null }
const all: Laws[] = [
  lawsOf('tenants', tenants, [
    { type: 'CreateTenant', tenantId, name: 'Acme', plan: 'free', at },
    { type: 'RenameTenant', name: 'Acme Tools', at },
    { type: 'SuspendTenant', reason: null, at },
    { type: 'ReinstateTenant', at },
    { type: 'CloseTenant', reason: null, at },
    { type: 'ChangeApprovalRule', anotherMember: true, at },
    { type: 'ChangeConfirmationLifetime', seconds: 86_400, at },
  ]),
  lawsOf('client keys', clientKeys, [
    { type: 'IssueSdkKey', key: { operationId: 'op_1', keyHash: 'a', displayKey: 'sdk_…' }, at },
    { type: 'RotateSdkKey', key: { operationId: 'op_2', keyHash: 'b', displayKey: 'sdk_…' }, at },
    { type: 'IssueCheckoutKey', key: { keyHash: 'c', displayKey: 'chk_…' }, at },
  ]),
  lawsOf('members', members, [
    {
      type: 'AddMember',
      memberId: 'mem_1',
      tenantId,
      role: 'owner',
      subjectId: 'sub_1',
      email: 'sealed',
      at,
    },
    { type: 'IssueLink', purpose: 'invitation', expiresAt: later, at },
    { type: 'ChangeRole', role: 'support', otherOwners: 1, at },
    {
      type: 'FollowDirectory',
      profile: 'sealed.1.profile',
      address: { subjectId: 'sub_2', email: 'sealed.1.new' },
      role: 'admin',
      access: 'no_role',
      otherOwners: 1,
      at,
    },
    { type: 'FollowDirectory', role: 'kept', access: 'granted', otherOwners: 0, at },
    { type: 'RemoveMember', otherOwners: 0, at },
  ]),
  lawsOf('directories', scims, scimCommands),
  lawsOf('tokens', tokens, tokenCommands),
  lawsOf('custom roles', customRoles, customRoleCommands),
  lawsOf('resellers', resellers, resellerCommands),
  lawsOf('logins', logins, [
    {
      type: 'ApproveLogin',
      ...asked,
      role: 'owner',
      tokenId: 'tok_1',
      scopes: [],
      tokenExpiresAt: null,
    },
    { type: 'DenyLogin', ...asked },
  ]),
  lawsOf('confirmations', confirmations, [
    { type: 'RequestConfirmation', request: gated, at: request.at },
    { type: 'Approve', by: 'member:mem_1', rule: anybody, at: request.at },
    { type: 'Withdraw', by: 'member:mem_1', at: request.at },
    { type: 'Deny', by: 'member:mem_1', at: request.at },
    { type: 'Expire', at: nextEnd },
    { type: 'RecordMail', memberId: 'mem_1', at: request.at },
    { type: 'Consume', ...consumed, at: request.at },
    { type: 'RecordExecution', outcome: 'done', reason: null, at: request.at },
  ]),
  lawsOf('products', products, [
    {
      type: 'CreateProduct',
      tenantId,
      productId: 'editor',
      name: 'Editor',
      keyPrefix: 'ED',
      settings: {},
      keyTypes: [],
      at,
    },
    { type: 'ChangeProduct', name: 'Writer', keyPrefix: 'WR', settings: { freeTierEnabled: true }, at },
    { type: 'AddKeyType', keyType: { ...defaultKeyType, keyTypeId: 'team' }, at },
    { type: 'ChangeKeyType', keyTypeId: 'pro', change: { name: 'Professional' }, at },
    { type: 'DeleteKeyType', keyTypeId: 'pro', inUse: false, at },
    { type: 'EnableTestMode', publishableKey: 'pk_test_1', secretName: 'test-mode.1', at },
    { type: 'SwitchTestModeOn', at },
    { type: 'DisableTestMode', at },
    { type: 'MapPrices', prices: [], at },
    { type: 'RecordPrices', prices: [], at },
  ]),
  lawsOf('licenses', licenses, [
    { type: 'MintLicense', terms },
    { type: 'ImportLicense', terms: { ...terms, source: 'import' }, devices: [device], revoked: false },
    { type: 'ActivateDevice', ...device, at },
    ...instanceCommands,
    { type: 'DeactivateDevice', deviceId: 'laptop', at },
    { type: 'RemintLicense', keyHash: 'f'.repeat(64), displayKey: 'ED-…', keepDevices: true, at },
    { type: 'RevokeLicense', reason: null, at },
    { type: 'RenewLicense', expiresAt: nextEnd, at },
    { type: 'EndPaidPeriod', at: nextEnd },
    { type: 'LinkCustomer', customerId: 'cus_1', at },
    {
      type: 'FollowSale',
      saleId: 'sale_1',
      through: 1,
      refunded: [],
      unpaid: null,
      keepRefunded: false,
      expiresAt: undefined,
      isRenewed: false,
      hasEnded: false,
      terms: null,
      at,
    },
    { type: 'EraseHolder', subjectId: 'sub_1', at },
    { type: 'EditLicense', edit: { deviceLimit: 7, metadata: { order: '1' } }, reason: null, at },
    ...sharingCommands,
    { type: 'FreeSeat', deviceId: 'laptop', most: 1, at },
    { type: 'NameDevice', deviceId: 'laptop', name: { subjectId: 'sub_1', text: 'sealed.1.AAAA' }, at },
    { type: 'ReseatDevice', deviceId: 'laptop', at },
    { type: 'UndoRevocation', reason: null, keyTypeIsThere: true, at },
    { type: 'TakeBackImport', reason: null, used: false, at },
  ]),
  lawsOf('licenses to undo', undoableLicenses, [
    { type: 'UndoRevocation', reason: null, keyTypeIsThere: true, at },
    { type: 'ReseatDevice', deviceId: 'laptop', at },
    { type: 'TakeBackImport', reason: null, at },
  ]),
  lawsOf('customers', customers, customerCommands),
  lawsOf('subjects', subjects, [
    { type: 'BeginErasure', tenantId, subjectId: 'sub_1', at },
    { type: 'EndErasure', erased: goldenData('subject', 'SubjectErased'), at },
  ]),
  lawsOf('integrations', integrations, [
    {
      type: 'ConnectMarketplace',
      tenantId,
      provider: 'polar',
      operationId: 'op_1',
      credentials: { webhookSecret: 'polar.1', apiKey: null, pingToken: null },
      at,
    },
    { type: 'StartOnboarding', tenantId, accountId: 'acct_1', at },
    { type: 'FinishOnboarding', accountId: 'acct_1', at },
    { type: 'RotateWebhookSecret', operationId: 'op_2', webhookSecret: 'polar.2', at },
    {
      type: 'RotatePingToken',
      operationId: 'op_3',
      pingToken: goldenData('integration', 'PingTokenRotated').pingToken,
      at,
    },
    { type: 'MapProduct', productId: 'editor', mapping: { products: { one: 'pro' } }, at },
    { type: 'Disconnect', at },
  ]),
  lawsOf('sales', sales, [
    {
      type: 'ReceiveSale',
      received: goldenData('sale', 'SaleReceived'),
      resolutions: [{ productId: 'editor', keyTypeId: 'pro' }],
    },
    { type: 'ResolveSale', resolutions: [{ productId: 'editor', keyTypeId: 'pro' }], at },
    { type: 'ReceiveAgain', notificationId: 'evt_2', links: [], at },
    { type: 'RecordFacts', facts: saleFacts },
    {
      type: 'RecordLicenses',
      outcomes: [{ item: 0, license: { productId: 'editor', keyTypeId: 'pro', expiresAt: null } }],
      boundLinks: [],
      kept: [],
      at,
    },
    { type: 'SettleSale', through: 3, boundLinks: [], kept: [], at },
    { type: 'ReviewPlan', at },
  ]),
  lawsOf('notices', links, [
    ...saleFacts.map((fact) => ({ type: 'KeepFact', ...link, fact, at }) as const),
    { type: 'BindLink', ...link, at },
  ]),
  lawsOf('webhooks', webhooks, [
    {
      type: 'SetWebhook',
      operationId: 'op_1',
      tenantId,
      url: 'https://hooks.example/',
      events: undefined,
      rotateSecret: true,
      displaySecret: 'whsec_…',
      at,
    },
    { type: 'RemoveWebhook', operationId: 'op_2', at },
    { type: 'AddEndpoint', ...goldenData('webhook', 'WebhookEndpointAdded'), ordering: 'none' },
    {
      type: 'ChangeEndpoint',
      operationId: 'op_3',
      endpointId: 'first',
      paused: true,
      description: 'CRM',
      at,
    },
    { type: 'RotateEndpointSecret', operationId: 'op_4', endpointId: 'first', displaySecret: 'whsec_…', at },
    { type: 'RemoveEndpoint', operationId: 'op_5', endpointId: 'first', at },
  ]),
  lawsOf('deliveries', deliveries, [
    { type: 'ScheduleDelivery', ...goldenData('delivery', 'DeliveryScheduled') },
    {
      type: 'RecordAttempt',
      attempt: 1,
      startedAt: at,
      durationMs: 5,
      result: { outcome: 'delivered', status: 200, excerpt: null },
      at,
    },
    { type: 'RecordInterruption', attempt: 1, startedAt: at, at },
    { type: 'AskRedelivery', at },
    { type: 'AskReplay', replayId: 'whr_1', scheduled: goldenData('delivery', 'DeliveryScheduled'), at },
  ]),
  lawsOf('notary logs', notaryLogs, notaryCommands),
  lawsOf('portals', portals, [
    { type: 'ChangePortalSettings', ...goldenData('portal', 'PortalSettingsChanged') },
    { type: 'ChangePortalLogo', ...goldenData('portal', 'PortalLogoChanged') },
    { type: 'AddLanguage', ...goldenData('portal', 'LanguageAdded') },
    { type: 'RemoveLanguage', ...goldenData('portal', 'LanguageRemoved') },
  ]),
  lawsOf('sign-in providers', signInProviders, signInCommands),
  lawsOf('mails', mails, [{ type: 'ChangeMailSettings', ...goldenData('mail', 'MailSettingsChanged') }]),
  lawsOf('wordings', wordings, wordingCommands),
  lawsOf('replays', replays, [
    { type: 'RequestReplay', ...goldenData('replay', 'ReplayRequested') },
    { type: 'AdvanceReplay', after: null, isLast: true, ...goldenData('replay', 'ReplayAdvanced') },
    { type: 'PauseReplay', at },
    { type: 'ResumeReplay', at },
    { type: 'CancelReplay', reason: 'requested', at },
  ]),
  lawsOf('test purchases', testPurchases, [
    { type: 'StartTestPurchase', ...goldenData('testpurchase', 'TestPurchaseStarted') },
    { type: 'BeginStage', stage, at },
    { type: 'EndStage', stage, outcome: 'done', detail: '', at },
    { type: 'EndStage', stage, outcome: 'failed', detail: 'declined', at },
  ]),
  lawsOf('signing keys', signingKeys, [
    { type: 'PublishFirstKey', tenantId, key: published, at },
    { type: 'PrepareKey', tenantId, key: published, at },
    { type: 'RotateKey', tenantId, key: published, at },
  ]),
  lawsOf('meters', meters, meterCommands),
  lawsOf('trials', trials, [{ tenantId, productId: 'editor', state: 'trial', installs: 30, at }]),
  lawsOf('audits', audits, [
    { type: 'Looked', data: goldenData('audit', 'Looked') },
    { type: 'SignedIn', data: goldenData('audit', 'SignedIn') },
  ]),
]

/**
 * Each of these creates something new or counts, so a repetition is another request. A run keeps a retry from
 * repeating it.
 */
const meantToRepeat: Readonly<Record<string, readonly string[]>> = {
  'client keys': ['IssueCheckoutKey'],
  members: ['IssueLink'],
  products: ['EnableTestMode'],
  licenses: ['RemintLicense'],
  meters: ['Consume', 'CorrectUse', 'SpendAllowance'],
  sales: ['ReceiveAgain', 'ReviewPlan'],
  'signing keys': ['RotateKey'],
}

test('every category of streams has a decider, but the identity of the log, which no command changes', () =>
  expect(new Set([...all.map(({ category }) => category), 'ledger'])).toStrictEqual(
    new Set(Object.keys(eventsOf)),
  ))

describe.each(all)('$name', ({ name, takesAnyEvent, decidesPurely, repeating }) => {
  test('accept any event in any state', takesAnyEvent)
  test('are decided on without a change to the state or the command', decidesPurely)
  test('record nothing for a repeated command, unless each is meant to count', () =>
    expect([...repeating()].sort()).toStrictEqual([...(meantToRepeat[name] ?? [])].sort()))
})
