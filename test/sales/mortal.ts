import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { createExecute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import type { TestLedger } from '../harness/ledger.ts'

/** What a process that was killed answers: nothing. */
export class Killed extends Error {}

/**
 * The services of another process, which dies at its nth chance: there is one before and one after each thing that it
 * writes. What it was just writing may still be written, as with a real one; after that it writes nothing any more.
 */
export function mortal({ services, readModels }: TestLedger, dieAt: number): AllPorts {
  let chances = 0
  const live = () => {
    chances++
    if (chances >= dieAt) throw new Killed(`killed at chance ${chances}`)
  }
  const ledger: AllPorts['ledger'] = {
    ...services.ledger,
    async append(...args) {
      live()
      const outcome = await services.ledger.append(...args)
      live()
      return outcome
    },
  }
  return {
    ...services,
    ledger,
    execute: createExecute(ledger, readModels, createKeyedMutex()),
    secrets: {
      ...services.secrets,
      async keep(...args) {
        live()
        const kept = await services.secrets.keep(...args)
        live()
        return kept
      },
      async destroy(...args) {
        live()
        await services.secrets.destroy(...args)
        live()
      },
    },
    keptKeys: {
      ...services.keptKeys,
      async keep(...args) {
        live()
        await services.keptKeys.keep(...args)
        live()
      },
    },
    subjects: {
      ...services.subjects,
      async destroy(...args) {
        live()
        await services.subjects.destroy(...args)
        live()
      },
    },
  }
}
