import { publicKeyText } from '../../src/notary/signing-log.ts'
import { privateKeyOf } from '../../src/transparency/note/keys.ts'
import { parseVerifierKey, type VerifierKey } from '../../src/transparency/note/verifier.ts'

const origin = 'licenses.example/ledger'
const privateKey = privateKeyOf(Buffer.alloc(32, 5))

/** Who signs in tests. */
export const signer = { origin, privateKeys: [privateKey] }

/** The key of {@link signer}. */
export const notaryKey: VerifierKey = parseVerifierKey(publicKeyText(origin, privateKey))
