// A program of the Go runtime, static or (with cgo) not: writes, starts a program, waits for it.
package main

import (
	"fmt"
	"os"
	"os/exec"
)

func main() {
	fmt.Println("go: out")
	fmt.Fprintln(os.Stderr, "go: err")
	if len(os.Args) < 2 {
		os.Exit(3)
	}
	child := exec.Command(os.Args[1], os.Args[2:]...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	err := child.Run()
	fmt.Println("go:", err)
	os.Exit(4)
}
