// This import alone makes the program a dynamic one.
package main

import "C"
