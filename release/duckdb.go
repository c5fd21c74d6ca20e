package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// thirdParty are the folders of DuckDB's source with libraries of others whose name there is not that of the library.
var thirdParty = map[string]string{"pg_query": "libpg_query", "skiplistlib": "skiplist", "icu_extension": "../extension/icu/third_party/icu", "tpch_extension": "../extension/tpch/dbgen"}

// duckdbLicenses writes the licences of the libraries that DuckDB contains. Its Go module has the libraries, and no text but DuckDB's
// own licence: the others are in DuckDB's source. Without the source, a note says which are missing.
func duckdbLicenses(libraries, source, version, dir string) error {
	names, err := contained(libraries)
	if err != nil {
		return err
	}
	if source == "" {
		note := "DuckDB " + version + " contains libraries of others: " + strings.Join(names, ", ") + ".\n" +
			"Their licences are in the folders third_party and extension of DuckDB's source of that version.\n"
		return writeFile(filepath.Join(dir, "MISSING.txt"), []byte(note), 0o644)
	}
	for _, name := range names {
		from := filepath.Join(source, "third_party", folderOf(name))
		if _, err := os.Stat(filepath.Join(from, "LICENSE")); err != nil {
			return fmt.Errorf("licence of %s, which DuckDB contains: %w", name, err)
		}
	}
	return copyLegal(source, dir)
}

// folderOf returns the folder of a library below third_party.
func folderOf(library string) string {
	if folder := thirdParty[library]; folder != "" {
		return filepath.FromSlash(folder)
	}
	return library
}

// contained returns the names of the libraries of others that DuckDB's module has, ascending: libduckdb_re2.a is re2.
func contained(libraries string) ([]string, error) {
	if libraries == "" {
		return nil, errors.New("licences of DuckDB: the program has no module with its libraries")
	}
	files, err := filepath.Glob(filepath.Join(libraries, "lib*.a"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "lib"), ".a")
		library, other := strings.CutPrefix(name, "duckdb_")
		if other && library != "static" && library != "generated_extension_loader" || thirdParty[name] != "" {
			names = append(names, library)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, fmt.Errorf("licences of DuckDB: %s has no libraries", libraries)
	}
	return names, nil
}
