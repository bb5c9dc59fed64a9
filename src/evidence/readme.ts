import type { Case } from './case.ts'

/**
 * The file that a recipient reads first.
 * @param isProved whether the archive has proofs
 */
export const readme = (
  { tenantId, licenseId, entry }: Case,
  isProved: boolean,
): string => `Evidence on the license ${licenseId}
of ${tenantId}, up to event ${entry.revision} of its history.

Start with summary.html, which opens in any browser.

  summary.html           a readable summary
  license.json           the license as it is after that event
  devices-*.jsonl        every device that was ever activated, with what its app last reported
  history-*.jsonl        its history: what happened, when, by whom, and what it changed
  sale.json              the sale that it was issued for: payment, renewals, refunds, disputes
  notifications/*.txt    what the payment provider sent, byte for byte; notifications.json lists the files.
                         "file" is null if it is no longer stored
  deliveries-*.jsonl     mails and webhook calls, with every attempt and its response
  usage.json             usage counts
  events/*.jsonl         the recorded events, with their stream and revision.
                         Personal data in them is encrypted; the hash of the license key is left out
${isProved ? proofFiles : ''}  manifest.json          every file with its size and SHA-256
  signature.json         the vendor's signature over the manifest

A file exists only if it has content. A JSON lines file has at most 500 lines.

How to verify it
----------------
Use the script verify-evidence.mjs from keyledger's documentation and the vendor's public key, which the vendor
publishes under its "kid" at /${tenantId}/.well-known/service-keys:

  node verify-evidence.mjs evidence.zip <public key>

By hand: the SHA-256 of every file must match manifest.json, and signature.json must contain an Ed25519
signature, by the key named in "kid", of this text, in UTF-8 and without a line break:

  evidence1|<kid>|${tenantId}|${licenseId}|<SHA-256 of manifest.json, in lower-case hexadecimal>

A "kid" is the first 16 hexadecimal digits of the SHA-256 of the 32 bytes of the public key.
${isProved ? howToProve : ''}
What it proves
------------------------
The vendor's ledger contained exactly this when the archive was created. The ledger is append-only: an event keeps its
stream, its revision and its position permanently. If nothing was recorded since, creating the archive again gives the
same content, except for usage counts and for data that was erased or is no longer stored.
`

const proofFiles = `  proofs/*.jsonl         for each line of events, the proof that the event is in the log of the vendor's ledger
  proofs/checkpoint      the signed state of that log, to which the proofs lead
  proofs/keys.txt        the public keys of the log, as the ledger states them
  verify.mjs             a program that verifies the proofs
`

const howToProve = `
How to verify the proofs
------------------------
  node verify.mjs --key <public key of the log>

in this directory, which may hold nothing else, or with the archive as its argument, with Node 18 or later. Get the key from the
vendor, or from a receipt or checkpoint that you kept: the one in proofs/keys.txt is only as trustworthy as this archive. If you do
not trust this copy of verify.mjs, take keyledger's own: keyledger verify archive evidence.zip --key <public key of the log>.
It checks the signature over the manifest, too: events/signing-*.jsonl proves which key the vendor signs with.
`
