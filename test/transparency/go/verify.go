// Checks checkpoints, proofs of inclusion and proofs of consistency with Go's own implementation, and prints what it
// thinks of each. The input is JSON on stdin, the output JSON on stdout.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	Key string
	// A witness has to have cosigned the checkpoint, when it is given.
	Witness    string
	Checkpoint string
	// Records of events, whose entries are wanted.
	Events    []string
	Inclusion []struct {
		Record []byte
		Index  int64
		Size   int64
		Root   []byte
		Proof  [][]byte
	}
	Consistency []struct {
		OldSize int64
		OldRoot []byte
		Size    int64
		Root    []byte
		Proof   [][]byte
	}
}

type output struct {
	Text  string
	Error string
	// The names of those whose signatures are right.
	Signers     []string
	Inclusion   []bool
	Consistency []bool
	Entries     []string
}

func encode(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func digest(value any) string {
	return fmt.Sprintf("%x", sha256.Sum256(encode(value)))
}

// The entry of an event as docs/reference/verify.md defines it. Go writes the members of a map in order, as the canonical form does.
func entry(record string) string {
	var event map[string]any
	decoder := json.NewDecoder(strings.NewReader(record))
	decoder.UseNumber()
	if err := decoder.Decode(&event); err != nil {
		panic(err)
	}
	metadata, _ := event["metadata"].(map[string]any)
	salt, _ := metadata["salt"].(string)
	if salt == "" {
		return record
	}
	delete(metadata, "salt")
	sealed := map[string]any{"salt": salt}
	if data, ok := event["data"].(map[string]any); ok {
		if keyHash, ok := data["keyHash"]; ok {
			sealed["keyHash"] = keyHash
			delete(data, "keyHash")
		}
	}
	return string(encode(map[string]any{
		"leaf": 2, "open": digest(event), "revision": event["revision"], "sealed": digest(sealed),
		"stream": event["stream"], "type": event["type"],
	}))
}

// A witness signs the text with a time before it: C2SP tlog-cosignature. Go's package reads the note and finds the signature.
type witness struct {
	name string
	id   uint32
	key  ed25519.PublicKey
}

func (w witness) Name() string    { return w.name }
func (w witness) KeyHash() uint32 { return w.id }
func (w witness) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	seconds := binary.BigEndian.Uint64(signature)
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", seconds, text)
	return ed25519.Verify(w.key, []byte(message), signature[8:])
}

func newWitness(vkey string) (note.Verifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("malformed key")
	}
	id, err := strconv.ParseUint(parts[1], 16, 32)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != 4 {
		return nil, fmt.Errorf("malformed key")
	}
	return witness{parts[0], uint32(id), key[1:]}, nil
}

func hash(from []byte) (h tlog.Hash) {
	copy(h[:], from)
	return h
}

func hashes(all [][]byte) []tlog.Hash {
	made := make([]tlog.Hash, 0, len(all))
	for _, one := range all {
		made = append(made, hash(one))
	}
	return made
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	out := output{Signers: []string{}, Inclusion: []bool{}, Consistency: []bool{}, Entries: []string{}}
	verifier, err := note.NewVerifier(in.Key)
	if err != nil {
		panic(err)
	}
	verifiers := []note.Verifier{verifier}
	if in.Witness != "" {
		cosigner, err := newWitness(in.Witness)
		if err != nil {
			panic(err)
		}
		verifiers = append(verifiers, cosigner)
	}
	opened, err := note.Open([]byte(in.Checkpoint), note.VerifierList(verifiers...))
	if err != nil {
		out.Error = err.Error()
	} else {
		out.Text = opened.Text
		for _, signature := range opened.Sigs {
			out.Signers = append(out.Signers, signature.Name)
		}
	}
	for _, record := range in.Events {
		out.Entries = append(out.Entries, entry(record))
	}
	for _, one := range in.Inclusion {
		err := tlog.CheckRecord(hashes(one.Proof), one.Size, hash(one.Root), one.Index, tlog.RecordHash(one.Record))
		out.Inclusion = append(out.Inclusion, err == nil)
	}
	for _, one := range in.Consistency {
		err := tlog.CheckTree(hashes(one.Proof), one.Size, hash(one.Root), one.OldSize, hash(one.OldRoot))
		out.Consistency = append(out.Consistency, err == nil)
	}
	json.NewEncoder(os.Stdout).Encode(out)
}
