import type { Case } from './case.ts'

/** What whoever is handed the archive reads first. */
export const readme = ({ tenantId, licenseId, entry }: Case): string => `Evidence on the license ${licenseId}
of ${tenantId}, up to event ${entry.revision} of its history.

Begin with summary.html, which any browser shows.

  summary.html           what happened, in plain words
  license.json           the license as it is after that event
  devices-*.jsonl        every device that ever sat on it, with what its app last said of itself
  history-*.jsonl        its history in public terms: what, when, by whom, and what that changed
  sale.json              the sale it was issued for: payment, renewals, refunds, disputes
  notifications/*.txt    what the payment provider has sent, byte for byte; notifications.json lists it.
                         "file" is null there for what is kept no longer
  deliveries-*.jsonl     mails and webhook calls, with every try and its answer
  usage.json             what was counted
  events/*.jsonl         the events themselves, with the stream and the revision under which they were recorded.
                         Personal data in them is sealed; the hash of the license's key is left out
  manifest.json          every file with its size and its SHA-256
  signature.json         the vendor's signature over the manifest

A file is there only if there is something to stand in it. JSON lines hold at most 500 lines a file.

How to verify it
----------------
With the script verify-evidence.mjs from keyledger's documentation, and the vendor's public key, which the vendor
publishes under its "kid" at /${tenantId}/.well-known/service-keys:

  node verify-evidence.mjs evidence.zip <public key>

By hand: the SHA-256 of every file has to be the one in manifest.json, and signature.json has to hold an Ed25519
signature, by the key named in "kid", over this text, in UTF-8 and without a line end:

  evidence1|<kid>|${tenantId}|${licenseId}|<SHA-256 of manifest.json, in lower-case hexadecimal>

A "kid" is the first 16 hexadecimal digits of the SHA-256 of the 32 bytes of the public key.

What can be told from it
------------------------
That the vendor's ledger held exactly this when the archive was made. The ledger is append-only: an event keeps its
stream, its revision and its position for good. Asked for again with nothing recorded since, the same archive comes
out, but for what is counted, and for what has been erased or is kept no longer.
`
