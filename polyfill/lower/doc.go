// Package lower rewrites a module.
package lower
