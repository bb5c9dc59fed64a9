import { createKeyedMutex } from '../../src/async/keyed-mutex.ts'
import { createCounting } from '../../src/commands/meters/counting.ts'
import { createExecute } from '../../src/ledger/execute.ts'
import type { AllPorts } from '../../src/ports.ts'
import type { TestLedger } from '../harness/ledger.ts'

/** What a process that was killed answers: nothing. */
export class Killed extends Error {}

/**
 * The ports of another process, which dies at its nth chance: there is one before and one after each thing that it
 * writes. What it was just writing may still be written, as with a real one; after that it writes nothing any more.
 */
export function mortal({ ports, readModels }: TestLedger, dieAt: number): AllPorts {
  let chances = 0
  const live = () => {
    chances++
    if (chances >= dieAt) throw new Killed(`killed at chance ${chances}`)
  }
  const ledger: AllPorts['ledger'] = {
    ...ports.ledger,
    async append(...args) {
      live()
      const outcome = await ports.ledger.append(...args)
      live()
      return outcome
    },
  }
  return {
    ...ports,
    ledger,
    execute: createExecute(ledger, readModels, createKeyedMutex()),
    counting: createCounting({ ...ports, ledger }),
    secrets: {
      ...ports.secrets,
      async keep(...args) {
        live()
        const kept = await ports.secrets.keep(...args)
        live()
        return kept
      },
      async destroy(...args) {
        live()
        await ports.secrets.destroy(...args)
        live()
      },
    },
    keptKeys: {
      ...ports.keptKeys,
      async keep(...args) {
        live()
        await ports.keptKeys.keep(...args)
        live()
      },
    },
    subjects: {
      ...ports.subjects,
      async destroy(...args) {
        live()
        await ports.subjects.destroy(...args)
        live()
      },
    },
  }
}
