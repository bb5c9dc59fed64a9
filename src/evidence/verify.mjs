// The verifier of keyledger for evidence archives, in one file. It needs Node 18 or later, and nothing else:
//
//   node verify.mjs [evidence.zip] --key <public key of the log>
//
// Generated from src/verifier of keyledger. License: Apache-2.0.

// src/verifier/archive.ts
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

// src/verifier/archive-files.ts
import { createHash as createHash3 } from "node:crypto";

// src/transparency/note/note.ts
import { createHash } from "node:crypto";

// src/transparency/note/keys.ts
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
var signatureTypes = { ed25519: 1, cosignature: 4 };
var publicKeyBytes = 32;
var signatureBytes = 64;
var isKeyName = (name) => name !== "" && !/[\s+]/u.test(name);
var privatePrefix = Buffer.from("302e020100300506032b657004220420", "hex");
var publicPrefix = Buffer.from("302a300506032b6570032100", "hex");
function verifyBytes(publicKey, message, signature) {
  if (signature.length !== signatureBytes) return false;
  const key = createPublicKey({ key: Buffer.concat([publicPrefix, publicKey]), format: "der", type: "spki" });
  return verify(null, message, key, signature);
}

// src/transparency/note/note.ts
var NoteError = class extends Error {
};
var keyIdBytes = 4;
var maxSignatures = 100;
var maxBytes = 1e6;
function parseNote(message) {
  if (message.length > maxBytes) throw new NoteError("the note is too long");
  if (!isWellFormed(message) || hasControl(message)) throw new NoteError("the note has forbidden characters");
  const end = message.lastIndexOf("\n\n");
  if (end === -1 || !message.endsWith("\n")) throw new NoteError("the note has no signatures");
  const lines = message.slice(end + 2, -1).split("\n");
  if (lines.length > maxSignatures) throw new NoteError("the note has too many signatures");
  return { text: message.slice(0, end + 1), signatures: lines.map(parseSignature) };
}
var isWellFormed = (text) => Buffer.from(text).toString() === text;
var hasControl = (text) => Array.from(text).some((character) => character < " " && character !== "\n");
function parseSignature(line) {
  const [dash, name = "", encoded = "", ...rest] = line.split(" ");
  const bytes = parseBase64(encoded);
  if (dash !== "—" || rest.length > 0 || !isKeyName(name) || !bytes || bytes.length <= keyIdBytes)
    throw new NoteError("the note has a malformed signature");
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) };
}
function keyIdOf(name, type, publicKey) {
  const hash = createHash("sha256").update(`${name}
`).update(Uint8Array.of(type)).update(publicKey);
  return hash.digest().subarray(0, keyIdBytes);
}
function parseBase64(encoded) {
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes : void 0;
}

// src/transparency/tree/edge.ts
import { createHash as createHash2 } from "node:crypto";
var hashBytes = 32;
var leafPrefix = Uint8Array.of(0);
var nodePrefix = Uint8Array.of(1);
var leafHash = (record) => createHash2("sha256").update(leafPrefix).update(record).digest();
var nodeHash = (left, right) => createHash2("sha256").update(nodePrefix).update(left).update(right).digest();
var sameHash = (left, right) => Buffer.compare(left, right) === 0;

// src/transparency/tree/proof.ts
var ProofError = class extends Error {
};
function rootFromInclusion(leaf, index, size, proof) {
  if (!(index >= 0 && index < size)) throw new ProofError("the index is outside of the tree");
  let at = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) throw new ProofError("the proof is too long");
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    ;
    [at, last] = [half(at), half(last)];
  }
  if (last !== 0) throw new ProofError("the proof is too short");
  return hash;
}
var half = (value) => Math.floor(value / 2);
function provesInclusion(leaf, index, tree, proof) {
  return holds(() => sameHash(rootFromInclusion(leaf, index, tree.size, proof), tree.root));
}
function holds(check) {
  try {
    return check();
  } catch (error) {
    if (error instanceof ProofError) return false;
    throw error;
  }
}

// src/verifier/not-proved.ts
var NotProved = class extends Error {
  finding;
  event;
  constructor(finding, message, event) {
    super(printable(message));
    this.finding = finding;
    this.event = event;
  }
};
var printable = (text) => text.replace(
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
  (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
);
function readingOf(what, read, event) {
  try {
    return read();
  } catch (error) {
    if (error instanceof NoteError || error instanceof ProofError || error instanceof SyntaxError || error instanceof RangeError)
      throw new NotProved("malformed", `${what} cannot be read: ${error.message}. Get it again.`, event);
    throw error;
  }
}
function eventWords({ index, stream, revision, type }) {
  const at = index === void 0 ? "" : `event ${String(index)}`;
  if (stream === void 0 || revision === void 0) return at === "" ? "an event" : at;
  const own = `${stream}, revision ${String(revision)}${type === void 0 ? "" : ` (${type})`}`;
  return at === "" ? own : `${at}: ${own}`;
}

// src/verifier/json.ts
var strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
function textIn(what, bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    throw new NotProved("malformed", `${what} is not UTF-8 text. Get it again.`);
  }
}
function readJson(what, text) {
  const value = readingOf(what, () => JSON.parse(text));
  const twice = repeatedMember(text);
  if (twice !== void 0)
    throw new NotProved("malformed", `${what} has the member ${twice} twice. Get it again.`);
  return value;
}
var tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;
function repeatedMember(text) {
  const objects = [];
  let last = "";
  for (const [token] of text.matchAll(tokens)) {
    if (token === "{") objects.push(/* @__PURE__ */ new Set());
    else if (token === "[") objects.push(void 0);
    else if (token === "}" || token === "]") objects.pop();
    else if (token === ":") {
      const name = String(JSON.parse(last));
      const names = objects.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
    last = token;
  }
  return void 0;
}
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var hasExactly = (value, names) => Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));

// src/verifier/archive-files.ts
var manifestName = "manifest.json";
var signatureName = "signature.json";
var fileName = /^(README\.txt|[a-z]+\.(json|html|mjs)|[a-z]+-\d{4,}\.jsonl|notifications\/\d{4,}\.txt|(events|proofs)\/[a-z]+-\d{4,}\.jsonl|proofs\/(checkpoint|keys\.txt))$/;
var members = ["version", "tenantId", "licenseId", "revision", "kid", "publicKey", "files"];
function readManifest(files) {
  const value = readJson(manifestName, textOf(files, manifestName));
  if (!isObject(value) || !hasExactly(value, members)) throw malformed();
  if (value.version !== 1 || !Array.isArray(value.files)) throw malformed();
  const { tenantId, licenseId, revision, kid, publicKey } = value;
  if (typeof tenantId !== "string" || typeof licenseId !== "string") throw malformed();
  if (typeof kid !== "string" || typeof publicKey !== "string") throw malformed();
  if (typeof revision !== "number" || !Number.isSafeInteger(revision) || revision < 0) throw malformed();
  const listed = value.files.map((file) => {
    if (!isObject(file) || !hasExactly(file, ["name", "size", "sha256"])) throw malformed();
    const { name, size, sha256: sha2563 } = file;
    if (typeof name !== "string" || typeof size !== "number" || typeof sha2563 !== "string") throw malformed();
    return { name, size, sha256: sha2563 };
  });
  return { tenantId, licenseId, revision, kid, publicKey, files: listed };
}
var malformed = () => new NotProved("malformed", `${manifestName} is not that of an evidence archive. Get the archive again.`);
function checkFiles(files, { files: listed }) {
  const named = /* @__PURE__ */ new Set([manifestName, signatureName]);
  for (const { name, size, sha256: sha2563 } of listed) {
    if (!fileName.test(name))
      throw new NotProved(
        "added",
        `The manifest names ${name}, and no evidence archive has a file of such a name.`
      );
    if (named.has(name)) throw new NotProved("added", `The manifest names ${name} twice.`);
    named.add(name);
    const content = files.get(name);
    if (!content)
      throw new NotProved("missing", `The archive lacks ${name}, which its manifest names. Get it again.`);
    if (content.length !== size || createHash3("sha256").update(content).digest("hex") !== sha2563)
      throw new NotProved("differs", `${name} differs from what the manifest of the archive says.`);
  }
  const added = [...files.keys()].find((name) => !named.has(name));
  if (added !== void 0)
    throw new NotProved(
      "added",
      `The archive has ${added}, which its manifest does not name. If it is your own, take it out of the directory.`
    );
}
function textOf(files, name) {
  const content = files.get(name);
  if (!content) throw new NotProved("missing", `The archive has no ${name}. ${missingHint(name)}`);
  return textIn(name, content);
}
var missingHint = (name) => name === "proofs/checkpoint" ? "It was made without a notary, so nothing in it can be proved. Its signature can: see README.txt in it." : "Is it an evidence archive of keyledger? Get it again.";

// src/verifier/archive-line.ts
import { isDeepStrictEqual } from "node:util";

// src/transparency/entry.ts
import { createHash as createHash4 } from "node:crypto";

// node_modules/canonicalize/lib/canonicalize.js
function hasLoneSurrogate(value) {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code >= 55296 && code <= 56319) {
      if (i === value.length - 1) {
        return true;
      }
      const next = value.charCodeAt(i + 1);
      if (!(next >= 56320 && next <= 57343)) {
        return true;
      }
      i++;
    } else if (code >= 56320 && code <= 57343) {
      return true;
    }
  }
  return false;
}
function canonicalize(object, seen = /* @__PURE__ */ new Set()) {
  if (typeof object === "number" && isNaN(object)) {
    throw new Error("NaN is not allowed");
  }
  if (typeof object === "number" && !isFinite(object)) {
    throw new Error("Infinity is not allowed");
  }
  if (typeof object === "string" && hasLoneSurrogate(object)) {
    throw new Error("Lone surrogate is not allowed");
  }
  if (object === null || typeof object !== "object") {
    return JSON.stringify(object);
  }
  if (typeof object.toJSON === "function") {
    if (seen.has(object)) {
      throw new Error("Circular reference detected");
    }
    seen.add(object);
    const result2 = canonicalize(object.toJSON(), seen);
    seen.delete(object);
    return result2;
  }
  if (seen.has(object)) {
    throw new Error("Circular reference detected");
  }
  seen.add(object);
  let result;
  if (Array.isArray(object)) {
    const values = object.map((cv) => {
      const value = cv === void 0 || typeof cv === "symbol" ? null : cv;
      return canonicalize(value, seen);
    });
    result = `[${values.join(",")}]`;
  } else {
    const parts = [];
    for (const key of Object.keys(object).sort()) {
      if (object[key] === void 0 || typeof object[key] === "symbol") {
        continue;
      }
      parts.push(`${canonicalize(key)}:${canonicalize(object[key], seen)}`);
    }
    result = `{${parts.join(",")}}`;
  }
  seen.delete(object);
  return result;
}

// src/transparency/record.ts
var recordBytes = ({ stream, revision, id, type, data, metadata }) => canonicalBytes({ stream, revision, id, type, data, metadata });
function canonicalBytes(value) {
  const text = canonicalize(value);
  if (text === void 0) throw new Error("the value has no canonical form");
  return Buffer.from(text);
}

// src/transparency/entry.ts
var saltForm = /^[0-9a-f]{32}$/;
function saltOf({ metadata }) {
  const { salt } = membersOf(metadata);
  return typeof salt === "string" && saltForm.test(salt) ? salt : void 0;
}
var entryOf = (record) => saltOf(record) === void 0 ? recordBytes(record) : entryOfParts(openPart(record), sealedHash(record));
function entryOfParts(open, sealed) {
  const { stream, revision, type } = open;
  return canonicalBytes({ leaf: 2, open: sha256(recordBytes(open)), revision, sealed, stream, type });
}
function openPart({ data, metadata, ...place }) {
  return { ...place, data: without(data, "keyHash"), metadata: without(metadata, "salt") };
}
function sealedHash({ data, metadata }) {
  const { keyHash } = membersOf(data);
  const { salt } = membersOf(metadata);
  return sha256(canonicalBytes(keyHash === void 0 ? { salt } : { keyHash, salt }));
}
function without(value, name) {
  if (!Object.hasOwn(membersOf(value), name)) return value;
  return Object.fromEntries(Object.entries(membersOf(value)).filter(([other]) => other !== name));
}
var membersOf = (value) => typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
var sha256 = (bytes) => createHash4("sha256").update(bytes).digest("hex");

// src/verifier/record.ts
var fields = ["stream", "revision", "id", "type", "data", "metadata"];
function readRecord(text, event) {
  const value = readingOf(recordWords(event), () => JSON.parse(text), event);
  if (!isRecord(value)) throw malformed2("it is not the record of an event", event);
  if (canonicalText(value, event) !== text)
    throw malformed2("it is not in the canonical form, in which it was hashed", event);
  return value;
}
function canonicalText(record, event) {
  try {
    return Buffer.from(recordBytes(record)).toString();
  } catch {
    throw malformed2("it has a text or a number that no event has", event);
  }
}
var recordWords = (event) => event ? `The record of ${eventWords(event)}` : "The record";
var malformed2 = (reason, event) => new NotProved("malformed", `${recordWords(event)} was changed: ${reason}. Get it again.`, event);
function isRecord(value) {
  return isObject(value) && hasExactly(value, fields) && typeof value.stream === "string" && Number.isSafeInteger(value.revision) && typeof value.id === "string" && typeof value.type === "string";
}
var beginning = Buffer.from('{"data":');
var salted = Buffer.from('"salt":"');

// src/verifier/proved-event.ts
function proveEntry({ stream, revision, type }, entry, index, proof, checkpoint) {
  const name = { index, stream, revision, type };
  if (index >= checkpoint.size)
    throw new NotProved(
      "not_covered",
      `The proof puts ${eventWords(name)} after the ${String(checkpoint.size)} events of the checkpoint. Get the proof again: it belongs to another checkpoint.`,
      name
    );
  if (!provesInclusion(leafHash(entry), index, checkpoint, proof))
    throw new NotProved(
      "differs",
      `The log does not have this content at ${eventWords(name)}. The event was changed, or it was moved, or the proof belongs to another checkpoint.`,
      name
    );
}
function hashesOf(encoded, event) {
  return encoded.map((text) => {
    const hash = typeof text === "string" ? parseBase64(text) : void 0;
    if (hash?.length !== hashBytes)
      throw new NotProved(
        "malformed",
        `The proof of ${eventWords(event)} has a malformed hash. Get it again.`,
        event
      );
    return hash;
  });
}

// src/verifier/archive-line.ts
var mayBeWithheld = /* @__PURE__ */ new Set(["LicenseImported", "LicenseReminted", "KeyMailAsked", "DeliveryScheduled"]);
var ofWithheld = ["stream", "revision", "position", "type", "metadata", "data"];
function proveLine({ line, proof }, checkpoint) {
  if (!isLine(line))
    throw new NotProved("malformed", "A line of events is not an event. Get the archive again.");
  const { stream, revision, type } = line;
  const name = { stream, revision, type };
  if (proof === null)
    throw new NotProved(
      "not_covered",
      `${eventWords(name)} has no proof. It was added, or it was newer than the last checkpoint of ${String(checkpoint.size)} events: then get the archive again, a few seconds later.`,
      name
    );
  if (!isObject(proof) || !Number.isSafeInteger(proof.index) || !Array.isArray(proof.proof))
    throw new NotProved("malformed", `The proof of ${eventWords(name)} cannot be read.`, name);
  const index = Number(proof.index);
  const hashes = hashesOf(proof.proof, name);
  if (hasExactly(proof, ["index", "record", "proof"]) && typeof proof.record === "string") {
    const record = readRecord(proof.record, name);
    comparePlaces(line, record);
    proveEntry(record, entryOf(record), index, hashes, checkpoint);
    compare(line, { ...record, data: openPart(record).data });
    return {
      ...name,
      index,
      data: objectIn(record.data),
      withheld: "nothing",
      isSalted: saltOf(record) !== void 0
    };
  }
  if (!mayBeWithheld.has(type))
    throw new NotProved("missing", `The record of ${eventWords(name)} is missing.`, name);
  if (hasExactly(proof, ["index", "open", "sealed", "proof"]) && typeof proof.open === "string" && typeof proof.sealed === "string") {
    const open = readRecord(proof.open, name);
    comparePlaces(line, open);
    proveEntry(open, entryOfParts(open, proof.sealed), index, hashes, checkpoint);
    compare(line, open);
    return { ...name, index, data: objectIn(open.data), withheld: "key", isSalted: true };
  }
  const leaf = typeof proof.leaf === "string" ? parseBase64(proof.leaf) : void 0;
  if (!hasExactly(proof, ["index", "leaf", "proof"]) || leaf?.length !== hashBytes)
    throw new NotProved("malformed", `The proof of ${eventWords(name)} cannot be read.`, name);
  if (!hasExactly(line, ofWithheld))
    throw new NotProved(
      "added",
      `The line of ${eventWords(name)} has other members than that of a withheld record has.`,
      name
    );
  if (!provesInclusion(leaf, index, checkpoint, hashes))
    throw new NotProved("differs", `The withheld record of ${eventWords(name)} is not in the log.`, name);
  return { ...name, index, data: {}, withheld: "event", isSalted: false };
}
var objectIn = (data) => isObject(data) ? data : {};
function isLine(value) {
  return isObject(value) && typeof value.stream === "string" && Number.isSafeInteger(value.revision) && Number(value.revision) >= 0 && typeof value.type === "string" && typeof value.position === "string" && /^\d{1,20}$/.test(value.position);
}
function comparePlaces(line, { stream, revision, type }) {
  if (stream === line.stream && revision === line.revision) return;
  const name = { stream: line.stream, revision: line.revision, type: line.type };
  throw new NotProved(
    "order",
    `${eventWords(name)} has the proof of ${eventWords({ stream, revision, type })}: the events were moved.`,
    name
  );
}
function compare({ position: _, ...line }, { stream, revision, id, type, metadata, data }) {
  if (isDeepStrictEqual(line, { stream, revision, id, type, metadata, data })) return;
  const name = { stream: line.stream, revision: line.revision, type: line.type };
  throw new NotProved("differs", `${eventWords(name)} differs from what the log has.`, name);
}

// src/verifier/archive-signature.ts
import { createHash as createHash5 } from "node:crypto";

// src/numbers.ts
var NumberInvalid = class extends Error {
};
var wholeNumberIn = (text, least, most) => within(/^-?\d{1,15}$/, text, least, most);
function within(form, text, least, most) {
  if (!form.test(text) || text.startsWith("-") && least >= 0) return void 0;
  const value = Number(text);
  return value >= least && value <= most ? value : void 0;
}
var wholeNumberOf = (what, text, least, most) => orRefused(wholeNumberIn(text, least, most), `${what} must be a whole number`, text, least, most);
function orRefused(number, rule, text, least, most) {
  if (number !== void 0) return number;
  throw new NumberInvalid(
    `${rule} from ${least} to ${most}, in decimal digits; it is ${JSON.stringify(text)}.`
  );
}

// src/transparency/checkpoint.ts
function parseCheckpoint(text) {
  const [origin = "", size = "", encoded = "", ...rest] = text.split("\n");
  const root = parseBase64(encoded);
  const isNumber = /^(0|[1-9]\d*)$/.test(size) && Number.isSafeInteger(Number(size));
  const extensions = rest.slice(0, -1);
  if (origin === "" || !isNumber || root?.length !== hashBytes || rest.at(-1) !== "" || extensions.includes(""))
    throw new NoteError("the text is no checkpoint");
  return { origin, size: Number(size), root };
}

// src/transparency/note/verifier.ts
var verifierKey = (name, type, publicKey) => ({
  name,
  type,
  keyId: keyIdOf(name, type, publicKey),
  publicKey
});
function parseVerifierKey(text) {
  const [name = "", id = "", ...encoded] = text.trim().split("+");
  const bytes = parseBase64(encoded.join("+"));
  const type = Object.values(signatureTypes).find((known2) => known2 === bytes?.[0]);
  if (!isKeyName(name) || !bytes || type === void 0 || bytes.length !== publicKeyBytes + 1)
    throw new NoteError("that is no Ed25519 key of a log or witness, such as example.com/log+530d903a+A…");
  const key = verifierKey(name, type, bytes.subarray(1));
  if (Buffer.from(key.keyId).toString("hex") !== id)
    throw new NoteError("the id in the middle of the key does not belong to it: a character may be missing");
  return key;
}
var signaturesOf = ({ signatures }, { name, keyId }) => signatures.filter((signature) => signature.name === name && Buffer.compare(signature.keyId, keyId) === 0);
function verifyNote(note, keys) {
  const message = Buffer.from(note.text);
  const made = keys.flatMap((key) => signaturesOf(note, key).map(({ signature }) => ({ key, signature })));
  if (made.length === 0) throw new NoteError("no trusted key signed it");
  for (const { key, signature } of made)
    if (!verifyBytes(key.publicKey, message, signature))
      throw new NoteError(`the signature of ${key.name} is wrong`);
}

// src/transparency/note/cosignature.ts
var timestampBytes = 8;
var cosignedMessage = (text, seconds) => Buffer.from(`cosignature/v1
time ${String(seconds)}
${text}`);
function cosignedAt(note, witness) {
  const times = signaturesOf(note, witness).map(({ signature }) => {
    if (signature.length <= timestampBytes) throw new NoteError(`the signature of ${witness.name} is wrong`);
    const seconds = Number(Buffer.from(signature).readBigUInt64BE());
    const message = cosignedMessage(note.text, seconds);
    if (!verifyBytes(witness.publicKey, message, signature.subarray(timestampBytes)))
      throw new NoteError(`the signature of ${witness.name} is wrong`);
    return seconds;
  });
  return times.length === 0 ? void 0 : Math.max(...times);
}

// src/verifier/trust.ts
var TrustUnusable = class extends Error {
};
function trustIn(keys, witnesses, threshold) {
  const trust = {
    keys: keys.map((key) => keyOf(key, signatureTypes.ed25519, "a log")),
    witnesses: witnesses.map((key) => keyOf(key, signatureTypes.cosignature, "a witness")),
    threshold: threshold === void 0 ? witnesses.length : wholeNumberOf("--threshold", threshold, 0, witnesses.length)
  };
  if (trust.keys.length === 0) throw new TrustUnusable("A key of the log is needed. Give it with --key.");
  const distinct = new Set(trust.witnesses.map(({ publicKey }) => Buffer.from(publicKey).toString("base64")));
  if (distinct.size !== trust.witnesses.length) throw new TrustUnusable("The same witness is given twice.");
  return trust;
}
function keyOf(text, type, whose) {
  try {
    const key = parseVerifierKey(text);
    if (key.type === type) return key;
  } catch (error) {
    if (!(error instanceof NoteError)) throw error;
    throw new TrustUnusable(`${text} is not usable: ${error.message}.`);
  }
  throw new TrustUnusable(`${text} is not the key of ${whose}. A log and a witness have different kinds.`);
}
function openCheckpoint(text, trust, what = "The checkpoint") {
  const note = readingOf(what, () => parseNote(text));
  const checkpoint = readingOf(what, () => parseCheckpoint(note.text));
  verifyLog(note, checkpoint.origin, trust, what);
  const cosigned = trust.witnesses.flatMap((witness) => {
    const seconds = genuine(what, () => cosignedAt(note, witness));
    return seconds === void 0 ? [] : [{ witness: witness.name, at: momentOf(seconds) }];
  });
  if (cosigned.length < trust.threshold)
    throw new NotProved(
      "too_few_witnesses",
      `${what} of ${String(checkpoint.size)} events is cosigned by ${String(cosigned.length)} of the witnesses, and ${String(trust.threshold)} are required. Get a newer one, or ask the operator why the witnesses did not sign.`
    );
  return { ...checkpoint, note: text, cosigned };
}
var momentOf = (seconds) => {
  const time = new Date(seconds * 1e3);
  return Number.isNaN(time.getTime()) ? `second ${String(seconds)}` : time.toISOString();
};
function verifyLog(note, origin, { keys }, what) {
  const own = keys.filter(({ name }) => name === origin);
  if (own.length === 0)
    throw new NotProved(
      "foreign_key",
      `${what} is of the log ${origin}, and the given key is of ${keys.map(({ name }) => name).join(", ")}. Get the key of that log from its operator, or check the right log.`
    );
  if (own.every((key) => signaturesOf(note, key).length === 0))
    throw new NotProved(
      "foreign_key",
      `${what} of ${origin} is not signed by the given key, but by ${signersOf(note)}. If the operator has announced that the key was replaced, give the new key as well; otherwise somebody else signed it.`
    );
  genuine(what, () => {
    verifyNote(note, own);
  });
}
var signersOf = ({ signatures }) => signatures.map(({ name, keyId }) => `${name}+${Buffer.from(keyId).toString("hex")}`).join(", ");
function genuine(what, check) {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof NoteError)) throw error;
    throw new NotProved(
      "wrong_signature",
      `${what} was changed after it was signed: ${error.message}. Get it again.`
    );
  }
}

// src/verifier/archive-signature.ts
var vendorKeysIn = (keys) => keys.map((key) => {
  if (parseBase64(key)?.length === publicKeyBytes) return key;
  throw new TrustUnusable(
    `${key} is not the signing key of a vendor: 32 bytes in base64, as its keyset publishes them.`
  );
});
function checkSignature(files, { tenantId, licenseId, kid, publicKey }) {
  const key = parseBase64(publicKey);
  if (key?.length !== publicKeyBytes || sha2562(key).slice(0, 16) !== kid)
    throw new NotProved("malformed", "The manifest has no usable public key. Get the archive again.");
  const value = readJson(signatureName, textOf(files, signatureName));
  if (!isObject(value) || !hasExactly(value, ["kid", "signature"])) throw malformed3();
  const signature = typeof value.signature === "string" ? parseBase64(value.signature) : void 0;
  if (!signature || value.kid !== kid) throw malformed3();
  const digest = sha2562(files.get("manifest.json") ?? Buffer.of());
  if (!verifyBytes(key, Buffer.from(`evidence1|${kid}|${tenantId}|${licenseId}|${digest}`), signature))
    throw new NotProved(
      "wrong_signature",
      "manifest.json was changed after the archive was signed, or its signature is of another archive."
    );
}
var malformed3 = () => new NotProved("malformed", `${signatureName} is not the signature of the key that the manifest names.`);
var sha2562 = (bytes) => createHash5("sha256").update(bytes).digest("hex");
function signerOf({ tenantId, kid, publicKey }, events, given) {
  if (given.length > 0) {
    if (given.includes(publicKey)) return { tenantId, kid, known: "given" };
    throw new NotProved(
      "foreign_key",
      `The archive is signed with the key ${kid}, which is none of the given keys of the vendor.`
    );
  }
  const published = events.filter(({ stream }) => stream === `signing-${tenantId}`);
  if (published.length === 0) return { tenantId, kid, known: "no" };
  if (published.some((event) => event.type === "SigningKeyPublished" && event.data.publicKey === publicKey))
    return { tenantId, kid, known: "in the log" };
  throw new NotProved(
    "foreign_key",
    `The archive is signed with the key ${kid}, and the log has other signing keys of ${tenantId}.`
  );
}

// src/verifier/unzip.ts
var localSignature = 67324752;
var entrySignature = 33639248;
var endSignature = 101010256;
var localBytes = 30;
var neededVersion = 10;
var isUtf8 = 2048;
var stored = 0;
var noDate = 33;
var maxFiles = 65535;
var maxBytes2 = 4294967295;
function unzip(archive) {
  const zip = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const files = /* @__PURE__ */ new Map();
  const directory = [];
  let at = 0;
  while (zip.length >= at + localBytes && zip.readUInt32LE(at) === localSignature) {
    const size = zip.readUInt32LE(at + 22);
    const start = at + localBytes + zip.readUInt16LE(at + 26);
    const path = zip.subarray(at + localBytes, start);
    const content = zip.subarray(start, start + size);
    const name = textIn("The name of a file in the archive", path);
    const facts = factsOf(path, content);
    if (content.length !== size || !zip.subarray(at + 4, at + localBytes).equals(facts)) throw damaged();
    if (files.has(name)) throw new NotProved("added", `The archive has two files named ${name}.`);
    files.set(name, content);
    directory.push(uint32(entrySignature), uint16(neededVersion), facts, Buffer.alloc(10), uint32(at), path);
    at = start + size;
  }
  if (files.size > maxFiles || at > maxBytes2) throw damaged();
  const entries = Buffer.concat(directory);
  const counted = uint16(0, 0, files.size, files.size);
  const end = Buffer.concat([uint32(endSignature), counted, uint32(entries.length, at), uint16(0)]);
  if (!zip.subarray(at).equals(Buffer.concat([entries, end]))) throw damaged();
  return files;
}
var damaged = () => new NotProved(
  "malformed",
  "The file is not a zip archive as keyledger writes it: it is damaged, or another program packed it. Get it again, or unpack it into an empty directory and check that."
);
var factsOf = (path, content) => Buffer.concat([
  uint16(neededVersion, isUtf8, stored, 0, noDate),
  uint32(crc32(content), content.length, content.length),
  uint16(path.length, 0)
]);
var crcTable = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? value >>> 1 ^ 3988292384 : value >>> 1;
  return value;
});
function crc32(bytes) {
  let value = 4294967295;
  for (const byte of bytes) value = value >>> 8 ^ (crcTable[(value ^ byte) & 255] ?? 0);
  return (value ^ 4294967295) >>> 0;
}
function uint16(...values) {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
  return bytes;
}
function uint32(...values) {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}

// src/verifier/archive.ts
var proofsOf = (name) => name.replace(/^events\//, "proofs/");
var eventsOf = (name) => name.replace(/^proofs\//, "events/");
var isOfLines = (name) => /^(events|proofs)\//.test(name) && name.endsWith(".jsonl");
var verifyArchive = (files, trust, vendorKeys = []) => readingOf("The archive", () => verify2(files, trust, vendorKeys));
function verify2(files, trust, vendorKeys) {
  const manifest = readManifest(files);
  checkSignature(files, manifest);
  checkFiles(files, manifest);
  const checkpoint = openCheckpoint(textOf(files, "proofs/checkpoint"), trust);
  const events = provedEvents(files, manifest, checkpoint);
  const signer = signerOf(manifest, events, vendorKeys);
  checkTenant(manifest, events);
  const ofLicense = events.filter(({ stream }) => stream === `license-${manifest.licenseId}`);
  checkEnd(manifest, ofLicense.length);
  if (signer.known === "no") checkIsOld(events);
  const proved = events.filter(({ withheld }) => withheld !== "event");
  const isTenantProved = ofLicense.some(({ data }) => data.tenantId === manifest.tenantId);
  const found = {
    licenseId: manifest.licenseId,
    tenantId: signer.known === "given" || isTenantProved ? manifest.tenantId : null,
    events: proved.length,
    streams: new Set(proved.map(({ stream }) => stream)).size,
    license: {
      events: ofLicense.filter(({ withheld }) => withheld !== "event").length,
      revision: ofLicense.length - 1
    },
    keyWithheld: events.filter(({ withheld }) => withheld === "key").map(nameOf),
    withheld: events.filter(({ withheld }) => withheld === "event").map(nameOf),
    signer,
    otherFiles: manifest.files.map(({ name }) => name).filter((name) => !isOfLines(name)),
    checkpoint
  };
  return { ...found, notProved: notProvedIn(found) };
}
var nameOf = ({ stream, revision, type }) => ({ stream, revision, type });
function provedEvents(files, { files: listed }, checkpoint) {
  const last = /* @__PURE__ */ new Map();
  const names = listed.map(({ name }) => name).filter(isOfLines);
  const withoutEvents = names.find((name) => !files.has(eventsOf(name)));
  if (withoutEvents !== void 0)
    throw new NotProved("missing", `The archive lacks ${eventsOf(withoutEvents)}, and has ${withoutEvents}.`);
  return names.filter((name) => name.startsWith("events/")).flatMap((name) => pairsOf(files, name)).map((pair) => {
    const event = proveLine(pair, checkpoint);
    checkOrder(last.get(event.stream), event);
    last.set(event.stream, event);
    return event;
  });
}
function pairsOf(files, name) {
  const events = linesOf(files, name);
  const proofs = linesOf(files, proofsOf(name));
  if (proofs.length > events.length)
    throw new NotProved("missing", `${name} lacks an event at its end: ${proofsOf(name)} has more lines.`);
  return events.map((line, at) => ({ line, proof: proofs[at] ?? null }));
}
function linesOf(files, name) {
  const [last, ...lines] = textOf(files, name).split("\n").reverse();
  if (last !== "" || lines.length === 0)
    throw new NotProved("malformed", `${name} does not end with a line break. Get the archive again.`);
  return lines.reverse().map((line, at) => readJson(`Line ${String(at + 1)} of ${name}`, line));
}
function checkOrder(before, event) {
  const expected = before ? before.revision + 1 : 0;
  if (event.revision > expected) {
    const name = { stream: event.stream, revision: expected };
    throw new NotProved("missing", `The archive lacks ${eventWords(name)}. It was removed.`, name);
  }
  if (event.revision < expected || before && event.index <= before.index)
    throw new NotProved(
      "order",
      `${eventWords(nameOf(event))} stands in another order than in the log.`,
      nameOf(event)
    );
}
function checkTenant({ tenantId }, events) {
  const foreign = events.find(({ data }) => typeof data.tenantId === "string" && data.tenantId !== tenantId);
  if (foreign)
    throw new NotProved(
      "foreign_tenant",
      `${eventWords(nameOf(foreign))} is of the tenant ${String(foreign.data.tenantId)}, and the archive is said to be of ${tenantId}.`,
      nameOf(foreign)
    );
}
function checkEnd({ licenseId, revision }, found) {
  if (found === revision + 1) return;
  const name = { stream: `license-${licenseId}`, revision: Math.min(found, revision + 1) };
  throw found <= revision ? new NotProved("missing", `The archive lacks ${eventWords(name)}, at the end of its stream.`, name) : new NotProved("added", `The archive has ${eventWords(name)}, which its manifest does not know.`, name);
}
function checkIsOld(events) {
  const salted2 = events.find(({ isSalted }) => isSalted);
  if (salted2)
    throw new NotProved(
      "missing",
      `The archive lacks the record of the vendor's signing key, which every archive with an event like ${eventWords(nameOf(salted2))} has. It was removed.`
    );
}
function notProvedIn({
  licenseId,
  tenantId,
  withheld,
  signer,
  otherFiles
}) {
  const events = withheld.map(
    (event) => `Withheld, not proved: ${eventWords(event)}. The archive leaves its record out, because it has the hash of an imported key or names an event that has, and so nothing of it is proved: not what it says, and not that there is such an event.`
  );
  if (signer.known !== "no")
    return tenantId === null ? [
      ...events,
      `Not proved: that license-${licenseId} is of ${signer.tenantId}. No event says whose it is.`
    ] : events;
  return [
    ...events,
    `Not proved: who made the archive. It is signed with the key ${signer.kid}, of which the log says nothing in this archive. If the vendor has that key, give it with --vendor-key.`,
    `Not proved: that the archive is whole. Events of license-${licenseId} after the last one, and all of another stream, may be left out.`,
    `Not proved: ${otherFiles.join(", ")}.`
  ];
}
function readArchive(path) {
  if (!statSync(path).isDirectory()) return unzip(readWhole("The archive", path));
  return new Map(filesBelow(path, "").map((name) => [name, readWhole(name, join(path, name))]));
}
var readWhole = (what, path) => readingOf(what, () => readFileSync(path));
function filesBelow(directory, prefix) {
  const entries = readdirSync(join(directory, prefix), { withFileTypes: true });
  if (entries.length === 0 && prefix !== "")
    throw new NotProved("added", `${prefix} is an empty directory, which no archive has. Remove it.`);
  return entries.flatMap((entry) => {
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) return filesBelow(directory, `${name}/`);
    if (entry.isFile()) return [name];
    throw new NotProved("added", `${name} is neither a file nor a directory, as all of an archive is.`);
  });
}

// src/verifier/sentences.ts
function checkpointLines({ origin, size, cosigned }) {
  return [
    `Checkpoint: ${String(size)} events of ${origin}, signed by the log.`,
    ...cosigned.map(({ witness, at }) => `Witness: ${witness} saw this log at ${at}.`)
  ];
}
var inPart = (notProved) => notProved.length === 0 ? [] : ["PROVED IN PART. What is not proved stands at the end."];
var archiveLines = (proved) => [
  ...inPart(proved.notProved),
  ...provedLines(proved),
  ...proved.keyWithheld.map(
    (event) => `Withheld: the hash of the key in ${eventWords(event)}. All else of that event is proved.`
  ),
  ...signerLines(proved),
  ...checkpointLines(proved.checkpoint),
  ...proved.notProved
].map(printable);
function provedLines({ events, streams, licenseId, tenantId, license }) {
  const name = `license-${licenseId}${tenantId === null ? "" : ` of ${tenantId}`}`;
  const until = String(license.revision);
  return [
    ...events === 0 ? [] : [
      `Proved: ${String(events)} events of ${String(streams)} streams are in the log as they are in the archive, except for their positions.`
    ],
    license.events > license.revision ? `Proved: ${name} has the revisions 0 to ${until}, without a gap.` : license.events > 0 ? `Proved: of ${name}, ${String(license.events)} of the revisions 0 to ${until}. The others are withheld.` : `Nothing of ${name} is proved: all its events are withheld.`
  ];
}
var known = {
  given: "which was given",
  "in the log": "which the log has as its signing key",
  no: ""
};
function signerLines({ signer, license, otherFiles }) {
  if (signer.known === "no") return [];
  return [
    `Signed: by ${signer.tenantId} with the key ${signer.kid}, ${known[signer.known]}.`,
    `It states that the license ended with revision ${String(license.revision)} when the archive was made, that no stream about it is left out, and these files: ${otherFiles.join(", ")}.`
  ];
}

// src/verifier/standalone.ts
var usage = `usage: node verify.mjs [evidence.zip] --key <public key of the log>… [--vendor-key <signing key of the vendor>]… [--witness <public key>]… [--threshold <number>]

Verifies an evidence archive: in the directory into which it was unpacked, or in the given archive. Get the key of the log from the
vendor: the one in proofs/keys.txt is only as trustworthy as the archive.

Exit codes: 0 proved, 1 not proved, 2 called in a wrong way, 4 proved in part.
`;
function parseWords(words) {
  const parsed = { path: ".", keys: [], vendorKeys: [], witnesses: [], threshold: void 0 };
  if (words.includes("")) throw new TrustUnusable(`An argument is empty.
${usage}`);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("--")) {
      parsed.path = word;
      continue;
    }
    at += 1;
    const value = words[at];
    if (value === void 0) throw new TrustUnusable(usage);
    if (word === "--key") parsed.keys.push(value);
    else if (word === "--vendor-key") parsed.vendorKeys.push(value);
    else if (word === "--witness") parsed.witnesses.push(value);
    else if (word === "--threshold") parsed.threshold = value;
    else throw new TrustUnusable(usage);
  }
  if (parsed.keys.length === 0) throw new TrustUnusable(usage);
  return parsed;
}
function main(words) {
  try {
    const { path, keys, vendorKeys, witnesses, threshold } = parseWords(words);
    const trust = trustIn(keys, witnesses, threshold);
    const proved = verifyArchive(readArchive(path), trust, vendorKeysIn(vendorKeys));
    process.stdout.write(`${archiveLines(proved).join("\n")}
`);
    return proved.notProved.length === 0 ? 0 : 4;
  } catch (error) {
    if (error instanceof NotProved) {
      process.stdout.write(`NOT PROVED: ${error.message}
`);
      return 1;
    }
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}
`);
    return 2;
  }
}
process.exitCode = main(process.argv.slice(2));
