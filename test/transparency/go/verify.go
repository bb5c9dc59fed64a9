// Checks checkpoints, proofs of inclusion and proofs of consistency with Go's own implementation, and prints what it
// thinks of each. The input is JSON on stdin, the output JSON on stdout.
package main

import (
	"encoding/json"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	Key        string
	Checkpoint string
	Inclusion  []struct {
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
	Text        string
	Error       string
	Inclusion   []bool
	Consistency []bool
}

func hash(bytes []byte) (h tlog.Hash) {
	copy(h[:], bytes)
	return h
}

func hashes(all [][]byte) []tlog.Hash {
	made := make([]tlog.Hash, 0, len(all))
	for _, bytes := range all {
		made = append(made, hash(bytes))
	}
	return made
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	out := output{Inclusion: []bool{}, Consistency: []bool{}}
	verifier, err := note.NewVerifier(in.Key)
	if err != nil {
		panic(err)
	}
	opened, err := note.Open([]byte(in.Checkpoint), note.VerifierList(verifier))
	if err != nil {
		out.Error = err.Error()
	} else {
		out.Text = opened.Text
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
