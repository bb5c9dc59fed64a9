import { readArchive, verifyArchive } from './archive.ts'
import { vendorKeysIn } from './archive-signature.ts'
import { NotProved } from './not-proved.ts'
import { archiveLines } from './sentences.ts'
import { TrustUnusable, trustIn } from './trust.ts'

const usage = `usage: node verify.mjs [evidence.zip] --key <public key of the log>… [--vendor-key <signing key of the vendor>]… [--witness <public key>]… [--threshold <number>]

Verifies an evidence archive: in the directory into which it was unpacked, or in the given archive. Get the key of the log from the
vendor: the one in proofs/keys.txt is only as trustworthy as the archive.

Exit codes: 0 proved, 1 not proved, 2 called in a wrong way, 4 proved in part.
`

type Words = {
  path: string
  keys: string[]
  vendorKeys: string[]
  witnesses: string[]
  threshold: string | undefined
}

/** @throws TrustUnusable for words that it does not know */
function parseWords(words: readonly string[]): Words {
  const parsed: Words = { path: '.', keys: [], vendorKeys: [], witnesses: [], threshold: undefined }
  // The value of a variable of the shell that is not set.
  if (words.includes('')) throw new TrustUnusable(`An argument is empty.\n${usage}`)
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
    else if (word === '--vendor-key') parsed.vendorKeys.push(value)
    else if (word === '--witness') parsed.witnesses.push(value)
    else if (word === '--threshold') parsed.threshold = value
    else throw new TrustUnusable(usage)
  }
  if (parsed.keys.length === 0) throw new TrustUnusable(usage)
  return parsed
}

function main(words: readonly string[]): number {
  try {
    const { path, keys, vendorKeys, witnesses, threshold } = parseWords(words)
    const trust = trustIn(keys, witnesses, threshold)
    const proved = verifyArchive(readArchive(path), trust, vendorKeysIn(vendorKeys))
    process.stdout.write(`${archiveLines(proved).join('\n')}\n`)
    return proved.notProved.length === 0 ? 0 : 4
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
