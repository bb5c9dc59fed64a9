import { setTimeout } from 'node:timers/promises'
import { isDatabaseFailure } from '../../../projections/database/errors.ts'
import { ReadModelsBehind } from '../../../projections/runner/read-models.ts'
import type { FoundInstall } from '../../../projections/trials.ts'
import { trialKey } from '../../domain/streams.ts'
import type { Telemetry } from '../../domain/telemetry.ts'
import {
  decideTrial,
  type InstallState,
  type Trial,
  type TrialCommand,
  type TrialStatus,
  trialStatusOf,
  trials,
} from '../../domain/trials/trial.ts'
import { LedgerUnavailable } from '../../ledger/connection/unavailable.ts'
import type { Ports } from '../../ports.ts'
import type { InstallReport } from '../../usage/installs.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/** What an install without a license reports. */
export type Beacon = {
  tenantId: string
  productId: string
  instanceId: string
  state: InstallState
  /** The app's identification of the machine; undefined when it sends none. */
  machineHash: string | undefined
  telemetry: Telemetry
  /** The length of the product's trial; undefined when it was never configured. */
  trialDays: number | undefined
}

type SharedMachine = { tenantId: string; productId: string; machine: string; installs: number }

type Options = {
  /** Throws if the tenant may not have another install. */
  admitNew: (tenantId: string) => void | Promise<void>
  /** Reports an implausibly shared machine to the operator. Called once for each machine. */
  onShared: (machine: SharedMachine) => void
  /** A beacon was answered without the trial ledger. */
  onFailure: (error: unknown) => void
  /** How many beacons are looked up concurrently. */
  maxRunning?: number
  timeLimitMs?: number
}

/**
 * Receives beacons. Each is answered in time, since no app should wait or fail because of one. If too many
 * arrive at once or the stores do not answer soon, the answer does not mention the device's trial.
 */
export function createBeaconReceiver(
  ports: Ports<'execute' | 'findInstall' | 'installs' | 'machines' | 'now'>,
  options: Options,
) {
  const { maxRunning = 256, timeLimitMs = 1000, onFailure } = options
  let running = 0

  return async (beacon: Beacon, origin: Origin): Promise<TrialStatus | undefined> => {
    if (running >= maxRunning) {
      ports.installs.record(sightingOf(ports, beacon, null), false)
      return undefined
    }
    running++
    const ended = new AbortController()
    const reported = report(ports, options, beacon, origin)
      .catch((error: unknown) => {
        if (!isStoreFailure(error)) throw error
        onFailure(error)
        ports.installs.record(sightingOf(ports, beacon, null), false)
        return undefined
      })
      .finally(() => {
        running--
        ended.abort()
      })
    // The beacon is still recorded after the time limit, without an effect on the answer.
    const late = setTimeout(timeLimitMs, undefined, { signal: ended.signal }).catch(() => reported)
    return Promise.race([reported, late])
  }
}

async function report(
  ports: Ports<'execute' | 'findInstall' | 'installs' | 'machines' | 'now'>,
  { admitNew, onShared }: Options,
  beacon: Beacon,
  origin: Origin,
): Promise<TrialStatus | undefined> {
  const { tenantId, productId, instanceId, machineHash } = beacon
  const machine =
    machineHash === undefined ? null : await ports.machines.hashOf(tenantId, productId, machineHash)
  const found = await ports.findInstall({ tenantId, productId, instanceId, machine })
  if (!found.known && !ports.installs.isPending(beacon)) await admitNew(tenantId)
  const sighting = sightingOf(ports, beacon, machine)
  if (machine === null || found.onMachine) ports.installs.record(sighting, true)
  if (machine === null) return undefined
  const installs = found.onMachine ? found.installs : await ports.installs.settle({ ...sighting, machine })
  if (found.uncertain) return undefined
  const at = momentOf(ports)
  const command = { tenantId, productId, state: beacon.state, installs, at }
  const trial = await recordTrial(ports, { found, command, machine, origin, onShared })
  return trialStatusOf(trial, beacon.trialDays, at)
}

const sightingOf = (ports: Ports<'now'>, beacon: Beacon, machine: string | null): InstallReport => {
  const { tenantId, productId, instanceId, state, telemetry } = beacon
  return { tenantId, productId, instanceId, state, machine, telemetry, at: ports.now() }
}

type Recording = {
  found: FoundInstall
  command: TrialCommand
  machine: string
  origin: Origin
  onShared: Options['onShared']
}

/** Appends only if the read model shows that there is something to record, which is rare. */
async function recordTrial(
  ports: Ports<'execute'>,
  { found, command, machine, origin, onShared }: Recording,
): Promise<Trial> {
  if (decideTrial(found.trial, command).length === 0) return found.trial
  const { tenantId, productId, installs, at } = command
  const key = trialKey(tenantId, productId, machine)
  const { state, events } = await ports.execute(trials, key, command, causeOf(origin, at))
  if (events.some(({ type }) => type === 'MachineFoundShared')) {
    onShared({ tenantId, productId, machine, installs })
  }
  return state
}

const isStoreFailure = (error: unknown): boolean =>
  error instanceof LedgerUnavailable || error instanceof ReadModelsBehind || isDatabaseFailure(error)
