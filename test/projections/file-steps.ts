import fc from 'fast-check'
import { listDevices } from '../../projections/licenses/queries.ts'
import { commandLicense, type TestLedger, uniqueId } from '../harness/ledger.ts'

/** A license file that a machine asks for, with the key of one of its installs, and gives back. */
export type FileStep =
  | { do: 'issue file'; license: number; machine: number; install: number }
  | { do: 'release file'; license: number; machine: number }

const license = fc.nat({ max: 3 })
const machine = fc.nat({ max: 2 })

export const anyFileStep: fc.Arbitrary<FileStep> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('issue file' as const),
      license,
      machine,
      install: fc.nat({ max: 1 }),
    }),
  },
  fc.record({ do: fc.constant('release file' as const), license, machine }),
)

export function fileStepRunner(ledger: TestLedger) {
  const { clock, db, ports } = ledger
  let requests = 0
  return async (step: FileStep, licenseId: string): Promise<unknown> => {
    const at = clock.now().toISOString()
    const name = `machine-${step.machine}`
    if (step.do === 'issue file') {
      const identity = { subjectId: 'sub_1', machine: `hash-of-${name}`, components: {} }
      return commandLicense(ledger, licenseId, {
        type: 'IssueFile',
        fileId: ports.newId('fil'),
        instanceId: ports.newId('ins'),
        platform: null,
        claim: { instanceId: null, installId: null, name, identities: [identity] },
        atLeast: null,
        request: { deviceKey: `${name}-${step.install}`, nonce: uniqueId('nonce'), counter: ++requests },
        seconds: 30 * 86_400,
        perSeatPerYear: 50,
        reason: null,
        at,
      })
    }
    const seats = await listDevices(db, licenseId)
    const seat = seats.find((each) => each.name === name && each.files !== null)
    const file = seat?.files?.at(-1)
    if (!seat || !file) return undefined
    const { deviceKey, serial } = file
    const { instanceId, fence } = seat
    return commandLicense(ledger, licenseId, {
      type: 'ReleaseFile',
      instanceId,
      deviceKey,
      serial,
      fence,
      reason: null,
      at,
    })
  }
}

/** Every kind of step, so that the log has every type of event. */
export const everyFileStep: readonly FileStep[] = [
  { do: 'issue file', license: 0, machine: 0, install: 0 },
  { do: 'issue file', license: 0, machine: 0, install: 1 },
  { do: 'issue file', license: 1, machine: 1, install: 0 },
  { do: 'release file', license: 1, machine: 1 },
]
