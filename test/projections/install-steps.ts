import fc from 'fast-check'
import { createBeaconReceiver } from '../../src/commands/devices/beacons.ts'
import { type InstallState, installStates } from '../../src/domain/trials/trial.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

/** A report of installs without a license. */
export type InstallStep =
  | { do: 'report'; state: InstallState; machine: number; install: number }
  /** Reports of more installs on one machine than are plausible. */
  | { do: 'exceed installs'; machine: number }

const machine = fc.nat({ max: 2 })

export const anyInstallStep: fc.Arbitrary<InstallStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      state: fc.constantFrom(...installStates),
      machine,
      install: fc.nat({ max: 3 }),
    }),
  },
  fc.record({ do: fc.constant('exceed installs' as const), machine }),
)

export function installStepRunner({ ports }: TestLedger, tenantId: string, productId: string) {
  const report = createBeaconReceiver(ports, {
    admitNew: () => undefined,
    onShared: () => undefined,
    onFailure: (error) => {
      throw error
    },
    timeLimitMs: 60_000,
  })
  const say = (state: InstallState, machine: number, install: string) => {
    const telemetry = { appVersion: '1.0', sdkVersion: null, platform: 'linux', sdk: 'rust' }
    const machineHash = `machine-${'0'.repeat(16)}-${machine}`
    return report(
      { tenantId, productId, instanceId: install, state, machineHash, telemetry, trialDays: 3 },
      origin,
    )
  }
  return async (step: InstallStep): Promise<unknown> => {
    if (step.do === 'report') return say(step.state, step.machine, `install-${step.install}`)
    const crowd = Array.from({ length: 21 }, (_, index) => `crowd-${index}`)
    for (const install of crowd) await say('free_tier', step.machine, install)
    return undefined
  }
}

/** Every kind of step, so that the log has every type of event. */
export const everyInstallStep: readonly InstallStep[] = [
  { do: 'report', state: 'trial', machine: 0, install: 0 },
  { do: 'report', state: 'expired', machine: 0, install: 1 },
  { do: 'exceed installs', machine: 1 },
]
