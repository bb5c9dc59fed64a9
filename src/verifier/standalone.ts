import { verifyArchive } from './archive.ts'
import { textOf } from './archive-files.ts'
import { NotProved } from './not-proved.ts'
import { readArchive } from './read-archive.ts'
import { TrustUnusable, trustIn } from './trust.ts'
import { archiveLines } from './words.ts'

const usage = `usage: node verify.mjs [evidence.zip] [--key <public key of the log>]… [--witness <public key>]… [--threshold <number>]

Verifies the proofs of an evidence archive: in the directory into which it was unpacked, or in the given archive.
`

type Words = { path: string; keys: string[]; witnesses: string[]; threshold: number | undefined }

/** @throws TrustUnusable for words that it does not know */
function parseWords(words: readonly string[]): Words {
  const parsed: Words = { path: '.', keys: [], witnesses: [], threshold: undefined }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (!word.startsWith('--')) {
      parsed.path = word
      continue
    }
    at += 1
    const value = words[at]
    if (value === undefined) throw new TrustUnusable(usage)
    if (word === '--key') parsed.keys.push(value)
    else if (word === '--witness') parsed.witnesses.push(value)
    else if (word === '--threshold') parsed.threshold = Number(value)
    else throw new TrustUnusable(usage)
  }
  return parsed
}

/** @returns the exit code: 0 proved, 1 not proved, 2 called in a wrong way */
function main(words: readonly string[]): number {
  try {
    const { path, keys, witnesses, threshold } = parseWords(words)
    const files = readArchive(path)
    const ownKeys = textOf(files, 'proofs/keys.txt').trim().split('\n')
    const trust = trustIn(keys.length > 0 ? keys : ownKeys, witnesses, threshold)
    const lines = archiveLines(verifyArchive(files, trust))
    const caution =
      keys.length > 0
        ? []
        : [
            `Checked with the key in the archive itself: ${ownKeys.join(', ')}`,
            'That proves only that the archive fits together. Compare the key with the one that the vendor publishes, and give it with --key.',
          ]
    process.stdout.write(`${[...lines, ...caution].join('\n')}\n`)
    return 0
  } catch (error) {
    if (error instanceof NotProved) {
      process.stdout.write(`NOT PROVED: ${error.message}\n`)
      return 1
    }
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return 2
  }
}

process.exitCode = main(process.argv.slice(2))
