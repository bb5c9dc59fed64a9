import type { Config } from '../config.ts'
import { sizeAtWitness } from '../notary/ask-witness.ts'
import type { Resumption } from '../notary/continue.ts'
import { keptIn } from '../notary/kept.ts'
import { type Known, NotResumable } from '../notary/newest.ts'
import { openCheckpoint, trustIn } from '../verifier/trust.ts'
import { servedLog } from './served-log.ts'

/**
 * Asks everybody who may know the newest checkpoint of a log: the configured witnesses, the directory where the notary keeps it,
 * and copies that are published. One that does not answer may know a newer one, so all have to.
 * @param keys the public keys of the log
 * @throws NotResumable when one does not answer
 */
export const knownElsewhere =
  (
    { notaryKeep, notaryWitnesses }: Pick<Config, 'notaryKeep' | 'notaryWitnesses'>,
    published: readonly string[],
    keys: () => Promise<readonly string[]>,
  ): Resumption['known'] =>
  async (checkpoint) => {
    const kept = notaryKeep === undefined ? [] : [inDirectory(notaryKeep, checkpoint.origin)]
    const witnesses = notaryWitnesses.map(async (witness): Promise<Known> => {
      const source = `the witness ${witness.key.name}`
      const signal = AbortSignal.timeout(30_000)
      const size = await sizeAtWitness(witness, checkpoint, signal).catch(
        silent(
          source,
          'Run this again when it responds; if it is gone for good, remove it from KEYLEDGER_NOTARY_WITNESSES.',
        ),
      )
      return { source, size }
    })
    const trusted = published.length > 0 ? trustIn(await keys(), []) : undefined
    const copies = published.map(async (url): Promise<Known> => {
      const read = async () => {
        if (!trusted) throw new NotResumable('no key of the log is known')
        return openCheckpoint(await servedLog(url).checkpoint(), trusted)
      }
      const { size, root } = await read().catch(silent(url, 'Give the address of a copy that responds.'))
      return { source: url, size, root }
    })
    return [...kept, ...(await Promise.all([...witnesses, ...copies]))]
  }

function inDirectory(directory: string, origin: string): Known {
  const kept = keptIn(directory).read(origin)
  return { source: `the directory ${directory}`, size: kept?.size ?? 0, ...(kept && { root: kept.root }) }
}

const silent =
  (source: string, advice: string) =>
  (error: unknown): never => {
    if (error instanceof Error)
      throw new NotResumable(
        `${source} does not say which checkpoint is its last: ${error.message}. ${advice} ` +
          'Otherwise start another log: keyledger notary new-log',
      )
    throw error
  }
