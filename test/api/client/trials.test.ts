/**
 * Guarantee: an app gets the trial of its machine: its start, which never changes, and whether it has ended. The
 * trial is only included when the machine was named, is recorded in the ledger and could be looked up; a machine
 * hash that too many installations share has no trial.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { countSharedMachines } from '../../../projections/trials.ts'
import { LedgerUnavailable } from '../../../src/ledger/connection/unavailable.ts'
import { createInstalls } from '../../../src/usage/installs.ts'
import { createMachines } from '../../../src/vault/machines.ts'
import { createTenantKeys } from '../../../src/vault/tenant-keys.ts'
import {
  askOf,
  createTestApp,
  makeTenant,
  metricsToken,
  openTestApi,
  type TestApi,
} from '../../harness/api.ts'
import { eventsIn } from '../../harness/ledger.ts'
import { type App, appOf, sdkKeyOf } from '../../http/apps.ts'
import { makeProduct } from '../../http/samples.ts'

let api: TestApi
let tenantId: string
let token: string
let sdkKey: string
let app: App
beforeAll(async () => {
  api = await openTestApi()
  ;({ tenantId, token } = await makeTenant(api.ledger))
  sdkKey = await sdkKeyOf(api.ledger, tenantId)
  await makeProduct(api.ask, token, 'editor')
  app = appOf(api.ask, { tenantId, productId: 'editor' }, sdkKey)
  await trialDays(14)
})
afterAll(() => api.close())

const trialDays = async (trialDurationDays: number | null, productId = 'editor') => {
  const { status } = await api.ask('PATCH', `/v1/products/${productId}`, {
    token,
    body: { trialDurationDays },
  })
  expect(status).toBe(200)
}
const dayMs = 86_400_000
const nowUnix = () => Math.floor(api.ledger.clock.now().getTime() / 1000)
let names = 0
const unused = (what: string) => `${what}-${String(++names).padStart(16, '0')}`

/** The trial in a response to a beacon. */
async function trialIn(body: object, as = app): Promise<object> {
  const answer = await as.post('keyless', body)
  expect(answer).toMatchObject({ status: 200, body: { received: true, free_tier_enabled: false } })
  return Object.fromEntries(
    Object.entries(answer.body as object).filter(
      ([name]) => name.startsWith('trial_') && name !== 'trial_duration_days',
    ),
  )
}
const onTrial = (instance_id: string, machine_hash: string, as = app) =>
  trialIn({ instance_id, state: 'trial', machine_hash }, as)
describe('the state of a trial', () => {
  test('contains its start, which never changes, and whether it has ended', async () => {
    const machine = unused('machine')
    const started = nowUnix()
    const fresh = { trial_started_at: started, trial_already_used: false }
    expect(await onTrial('first', machine)).toStrictEqual(fresh)
    api.ledger.clock.advance(14 * dayMs - 1000)
    expect(await onTrial('first', machine)).toStrictEqual(fresh)
    // Another installation on the same machine has the machine's trial.
    expect(await onTrial('second', machine)).toStrictEqual(fresh)
    api.ledger.clock.advance(1000)
    const used = { trial_started_at: started, trial_already_used: true }
    for (const state of ['trial', 'expired', 'free_tier', undefined]) {
      expect(await trialIn({ instance_id: 'first', machine_hash: machine, state })).toStrictEqual(used)
    }
  })

  test('is omitted without a machine hash, and for a machine that never had a trial', async () => {
    expect(await trialIn({ instance_id: 'no machine', state: 'trial' })).toStrictEqual({})
    for (const state of ['free_tier', 'expired', undefined]) {
      expect(await trialIn({ instance_id: 'new', machine_hash: unused('machine'), state })).toStrictEqual({})
    }
  })

  test('belongs to one product of one tenant', async () => {
    const machine = unused('machine')
    await onTrial('here', machine)
    await makeProduct(api.ask, token, 'viewer')
    const viewer = appOf(api.ask, { tenantId, productId: 'viewer' }, sdkKey)
    expect(await trialIn({ instance_id: 'here', machine_hash: machine }, viewer)).toStrictEqual({})
    const other = await makeTenant(api.ledger)
    await makeProduct(api.ask, other.token, 'editor')
    const foreign = appOf(
      api.ask,
      { ...other, productId: 'editor' },
      await sdkKeyOf(api.ledger, other.tenantId),
    )
    expect(await trialIn({ instance_id: 'here', machine_hash: machine }, foreign)).toStrictEqual({})
  })

  test('is forgotten after 18 months; the machine then starts a new trial', async () => {
    const machine = unused('machine')
    api.ledger.clock.set('2030-08-31T08:00:00.000Z')
    const started = nowUnix()
    await onTrial('old', machine)
    api.ledger.clock.set('2032-02-29T08:00:00.000Z')
    expect(await onTrial('old', machine)).toStrictEqual({
      trial_started_at: started,
      trial_already_used: true,
    })
    api.ledger.clock.advance(1)
    expect(await trialIn({ instance_id: 'old', machine_hash: machine })).toStrictEqual({})
    expect(await onTrial('old', machine)).toStrictEqual({
      trial_started_at: nowUnix(),
      trial_already_used: false,
    })
  })

  test('follows the trial length of the product: without one it never ends, with 0 days it has ended at once', async () => {
    const machine = unused('machine')
    await makeProduct(api.ask, token, 'lengths')
    const lengths = appOf(api.ask, { tenantId, productId: 'lengths' }, sdkKey)
    const used = async () => {
      const answer = await onTrial('one', machine, lengths)
      return 'trial_already_used' in answer && answer.trial_already_used
    }
    expect(await used()).toBe(false)
    api.ledger.clock.advance(400 * dayMs)
    expect(await used()).toBe(false)
    await trialDays(0, 'lengths')
    expect(await used()).toBe(true)
    await trialDays(401, 'lengths')
    expect(await used()).toBe(false)
    await trialDays(null, 'lengths')
    expect(await used()).toBe(false)
  })

  test.each(['x'.repeat(15), 'x'.repeat(129), 'ümlaut-ümlaut-ümlaut', 'with space with space', '', 7, null])(
    'rejects the machine_hash %j with 400',
    async (machine_hash) => {
      const { status, body } = await app.post('keyless', { instance_id: 'i', machine_hash })
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('machine_hash') as string },
      })
    },
  )

  test('accepts a machine_hash of 16 to 128 characters', async () => {
    for (const machine_hash of ['Aa0+/=_-Aa0+/=_-', 'x'.repeat(128)]) {
      expect(await onTrial('i', machine_hash)).toHaveProperty('trial_started_at')
    }
  })
})

describe('concurrent first reports of one machine', () => {
  test('start one trial', async () => {
    const machine = unused('machine')
    // Separate mutexes, as on three servers.
    const servers = await Promise.all([1, 2, 3].map(() => createTestApp(api.ledger, { ...api.ledger.ports })))
    const apps = servers.map((server) => appOf(askOf(server), { tenantId, productId: 'editor' }, sdkKey))
    const answers = await Promise.all(
      Array.from({ length: 18 }, (_, index) => onTrial(`racer ${index}`, machine, apps[index % 3])),
    )
    const started = { trial_started_at: nowUnix(), trial_already_used: false }
    // On a busy machine a trial may not be looked up in time; the answer then says nothing of it.
    const told = answers.filter((answer) => 'trial_started_at' in answer)
    expect(told).toStrictEqual(told.map(() => started))
    expect(told).not.toStrictEqual([])
    const stream = await streamOf(machine)
    expect((await eventsIn(api.ledger.ports.ledger, stream)).map(typeOf)).toStrictEqual(['TrialStarted'])
    await Promise.all(servers.map((server) => server.close()))
  })
})

const typeOf = (entry: Awaited<ReturnType<typeof eventsIn>>[number]) =>
  entry.readable ? entry.event.type : 'unreadable'
const streamOf = async (machine: string) =>
  `trial-${tenantId}.editor.${await api.ledger.ports.machines.hashOf(tenantId, 'editor', machine)}`

describe('a machine that more than 20 installs share', () => {
  test('has an unused trial from the 21st installation on, and is logged once', async () => {
    const warned = vi.spyOn(api.app.log, 'warn')
    const before = await countSharedMachines(api.ledger.db)
    const machine = unused('machine')
    const started = nowUnix()
    await onTrial('install 1', machine)
    api.ledger.clock.advance(15 * dayMs)
    const used = { trial_started_at: started, trial_already_used: true }
    for (let install = 2; install <= 20; install++) {
      expect(await onTrial(`install ${install}`, machine)).toStrictEqual(used)
      // A repeated report is no new installation.
      if (install % 5 === 0) expect(await onTrial(`install ${install}`, machine)).toStrictEqual(used)
    }
    expect(warned).not.toHaveBeenCalled()
    const granted = { trial_started_at: started, trial_already_used: false }
    for (const install of ['install 21', 'install 22', 'install 1']) {
      expect(await onTrial(install, machine)).toStrictEqual(granted)
    }
    const hash = await api.ledger.ports.machines.hashOf(tenantId, 'editor', machine)
    expect(warned.mock.calls).toStrictEqual([
      [{ tenant: tenantId, product: 'editor', machine: hash, installs: 21 }, 'trial.shared_machine'],
    ])
    warned.mockRestore()
    expect((await eventsIn(api.ledger.ports.ledger, await streamOf(machine))).map(typeOf)).toStrictEqual([
      'TrialStarted',
      'MachineFoundShared',
    ])
    expect(await countSharedMachines(api.ledger.db)).toBe(before + 1)
    const { text } = await api.ask('GET', '/metrics', { token: metricsToken })
    expect(text).toContain(`keyledger_trial_shared_machines ${before + 1}`)
  })
})

describe('a machine', () => {
  test('is stored only as a hash', async () => {
    const machine = unused('secret-machine')
    await onTrial('private', machine)
    await api.ledger.ports.installs.flush()
    const { rows } = await api.ledger.db.query('select * from usage.installs, read_models.trials')
    expect(JSON.stringify(rows)).not.toContain(machine)
    const entries = await eventsIn(api.ledger.ports.ledger, await streamOf(machine))
    expect(entries).toHaveLength(1)
    expect(
      JSON.stringify(entries, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(machine)
  })

  test('keeps its trial and its installations across a restart', async () => {
    const machine = unused('machine')
    const before = await onTrial('lasting', machine)
    const { ports, db, clock } = api.ledger
    await ports.installs.flush()
    const restarted = {
      ...ports,
      machines: createMachines(createTenantKeys(ports.secrets, 'machines', ports.randomBytes)),
      installs: createInstalls(db, clock.now, () => undefined, 3_600_000),
    }
    const server = await createTestApp(api.ledger, restarted)
    const again = appOf(askOf(server), { tenantId, productId: 'editor' }, sdkKey)
    clock.advance(dayMs)
    expect(await onTrial('lasting', machine, again)).toStrictEqual(before)
    await restarted.installs.stop()
    await server.close()
  })
})

describe('when the trial cannot be determined', () => {
  const appWith = async (ports: Partial<typeof api.ledger.ports>) => {
    const server = await createTestApp(api.ledger, { ...api.ledger.ports, ...ports })
    return { server, as: appOf(askOf(server), { tenantId, productId: 'editor' }, sdkKey) }
  }

  test.each([
    ['cannot be looked up', { findInstall: () => Promise.reject(new LedgerUnavailable('gone')) }],
    ['takes too long to look up', { findInstall: () => new Promise<never>(() => undefined) }],
    ['cannot be recorded', { execute: () => Promise.reject(new LedgerUnavailable('gone')) }],
  ])('a beacon whose machine %s gets no trial fields', async (what, failing) => {
    const machine = unused('machine')
    if (what !== 'cannot be recorded') await onTrial('before', machine)
    const { server, as } = await appWith(failing)
    expect(await onTrial('before', machine, as)).toStrictEqual({})
    expect((await as.post('free-tier', { instance_id: 'before' })).status).toBe(200)
    await server.close()
    // Nothing was recorded: the next report starts the trial.
    expect(await onTrial('before', machine)).toMatchObject({ trial_already_used: false })
  })

  test('beacons over the limit of concurrent lookups get no trial fields', async () => {
    const waiting: (() => void)[] = []
    const { findInstall } = api.ledger.ports
    const { server, as } = await appWith({
      findInstall: async (question) => {
        await new Promise<void>((resolve) => waiting.push(resolve))
        return findInstall(question)
      },
    })
    const machine = unused('machine')
    await onTrial('crowd', machine)
    const crowd = Array.from({ length: 256 }, () => onTrial('crowd', machine, as))
    await expect.poll(() => waiting.length).toBe(256)
    expect(await onTrial('crowd', machine, as)).toStrictEqual({})
    for (const go of waiting) go()
    await Promise.all(crowd)
    await server.close()
  })
})
