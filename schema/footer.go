package schema

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// fileFormatKey is the key in the metadata of every file that has the format of the store.
const fileFormatKey = "neurolens.format"

// fileFormatSlot precedes the length and the value in the footer: the key, then the header of a Thrift string (field 2 of
// KeyValue, type 8).
const fileFormatSlot = fileFormatKey + "\x18"

// Footer is the part of a Parquet footer that describes how many rows, and which columns, a file has.
type Footer struct {
	Format string // empty if there is none
	Rows   int64
	Groups int64 // rows of all row groups together

	large error             // a row group takes more memory than a file of runs may
	types [footerTypes]int8 // physical types of the columns, by field id; 0 means that there is no such column
}

// footerTypes is larger than all field ids of the columns of a table.
const footerTypes = 128

// ReadFooter reads the footer of a file. The error wraps ErrDamaged, or is one of reading.
func ReadFooter(file io.ReaderAt, size int64) (Footer, error) {
	content, err := readFooter(file, size)
	if err != nil {
		return Footer{}, err
	}
	var f Footer
	if err := f.parse(&compactReader{left: content}); err != nil {
		return Footer{}, errFooter
	}
	f.Format = footerFormat(content)
	return f, nil
}

// errFooter means that a footer is not one of Parquet.
var errFooter = fmt.Errorf("%w: its footer cannot be read", ErrDamaged)

// errEnough ends the reading of a footer early.
var errEnough = errors.New("the rest is not needed")

// ReadFooterRows reads only the format and the number of rows of a footer. It is faster than ReadFooter, because it decodes neither
// columns nor row groups.
func ReadFooterRows(file io.ReaderAt, size int64) (format string, rows int64, err error) {
	f, err := readFooterTo(file, size, func(f *Footer, r *compactReader, id int64, _ byte) (err error) {
		if f.Rows, err = r.integer(); err == nil {
			err = errEnough
		}
		return err
	}, 3)
	return f.Format, f.Rows, err
}

// ReadLiveFooter returns a faster ReadFooter for a live file: it decodes no column. The error wraps ErrDamaged too if CheckLiveGroup
// refuses a row group.
func ReadLiveFooter(file io.ReaderAt, size int64) (Footer, error) {
	f, err := readFooterTo(file, size, func(f *Footer, r *compactReader, id int64, kind byte) (err error) {
		if id == 3 {
			f.Rows, err = r.integer()
			return err
		}
		err = r.structs(kind, func(r *compactReader) error {
			bytes, rows, err := r.group()
			f.Groups += rows
			f.large = cmp.Or(f.large, CheckLiveGroup(bytes, size))
			return err
		})
		return cmp.Or(err, errEnough)
	}, 3, 4)
	return f, cmp.Or(err, f.large)
}

// readFooterTo calls read for each field of a footer that has one of the ids, until read returns errEnough.
func readFooterTo(file io.ReaderAt, size int64, read func(f *Footer, r *compactReader, id int64, kind byte) error, ids ...int64) (f Footer, err error) {
	content, err := readFooter(file, size)
	if err != nil {
		return f, err
	}
	r := &compactReader{left: content}
	err = r.fields(func(id int64, kind byte) (err error) {
		if !slices.Contains(ids, id) {
			return r.skip(kind)
		}
		return read(&f, r, id, kind)
	})
	if !errors.Is(err, errEnough) {
		return f, errFooter
	}
	f.Format = footerFormat(content)
	return f, nil
}

// Limits of the memory that the row groups of files of runs take when they are read. Writers of runs keep to maxRunText. The sizes in a
// footer can be less than the memory that the pages take.
const (
	maxRunText   = 16 << 20 // bytes of the texts of a run, with textBeside and runBeside
	textBeside   = 8        // bytes per text besides its content: its length, its index in a dictionary, its levels
	runBeside    = 64 << 10 // bytes of all values of a run that are no texts, and of the headers of pages
	maxRunsGroup = 1 << 30
)

// CheckLiveGroup returns an error that wraps ErrDamaged if a row group of a live file has more bytes, uncompressed, than the file and the
// texts of a run. The format has live files without compression.
func CheckLiveGroup(bytes, size int64) error {
	if bytes >= 0 && bytes <= size+maxRunText {
		return nil
	}
	return fmt.Errorf("%w: its columns take %d bytes when they are unpacked, and may take %d", ErrDamaged, bytes, size+maxRunText)
}

// CheckRunsGroup returns an error that wraps ErrDamaged if a row group of another file of runs has more bytes, uncompressed, than its runs
// can have.
func CheckRunsGroup(bytes, rows int64) error {
	limit := maxRunText * min(max(rows, 1), maxRunsGroup/maxRunText)
	if bytes >= 0 && bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: the columns of %d runs take %d bytes when they are unpacked, and may take %d", ErrDamaged, rows, bytes, limit)
}

// footerFormat returns the format in the metadata at the end of a file, or empty if there is none.
func footerFormat(end []byte) string {
	at := bytes.LastIndex(end, []byte(fileFormatSlot)) + len(fileFormatSlot)
	if at < len(fileFormatSlot) || at == len(end) || at+1+int(end[at]) > len(end) {
		return ""
	}
	return string(end[at+1:][:end[at]])
}

// CheckFormat returns an error that wraps ErrFormat if a file has another format than this version reads. A file without
// a format passes, because verify reports it.
func CheckFormat(format string) error {
	if format != "" && format != strconv.Itoa(Format) {
		return fmt.Errorf("%w: it has format %q, and this version reads format %d", ErrFormat, format, Format)
	}
	return nil
}

// Check compares the footer of a file with the columns of its table and its expected number of rows. The error wraps ErrDamaged, also if
// CheckRunsGroup refuses a row group, or ErrFormat if the file has another format.
func (f *Footer) Check(t *Table, rows int64) error {
	if err := CheckFormat(f.Format); err != nil {
		return err
	}
	if t == Runs && f.large != nil {
		return f.large
	}
	columns := t.Columns
	if f.Rows != rows || f.Groups != f.Rows {
		return fmt.Errorf("%w: it has %d rows, its row groups %d, but its name says %d", ErrDamaged, f.Rows, f.Groups, rows)
	}
	if f.types[columns[0].ID] == 0 {
		return fmt.Errorf("%w: it has no column with the field id of %s", ErrDamaged, columns[0].Name)
	}
	for _, c := range columns {
		if got := f.types[c.ID]; got != 0 && !c.readableAs(got) {
			return fmt.Errorf("%w: its column %s is not of type %s", ErrDamaged, c.Name, c.SQLType())
		}
	}
	return nil
}

// Physical types, plus one compared with Parquet's numbers: of text, and of nodes without a type (a list, a map or a
// struct).
const (
	physicalBytes = 7
	physicalNone  = -1
)

// readableAs reports whether values of a physical type can be read as values of the column. Numbers of any kind can be read as each
// other, but not as text or a list.
func (c *Column) readableAs(physical int8) bool {
	switch c.Kind {
	case KindString:
		return physical == physicalBytes
	case KindList, KindMap, KindStruct:
		return physical == physicalNone
	default:
		return physical != physicalBytes && physical != physicalNone
	}
}

// parse reads FileMetaData: 2 is the schema, 3 the number of rows, 4 the row groups.
func (f *Footer) parse(r *compactReader) error {
	return r.fields(func(id int64, kind byte) (err error) {
		switch id {
		case 2:
			return r.structs(kind, f.element)
		case 3:
			f.Rows, err = r.integer()
			return err
		case 4:
			return r.structs(kind, f.group)
		}
		return r.skip(kind)
	})
}

// element reads a SchemaElement: 1 is the type of a leaf, 9 the field id.
func (f *Footer) element(r *compactReader) error {
	field, physical := int64(-1), int64(physicalNone-1)
	err := r.fields(func(id int64, kind byte) (err error) {
		switch id {
		case 1:
			physical, err = r.integer()
		case 9:
			field, err = r.integer()
		default:
			err = r.skip(kind)
		}
		return err
	})
	if field >= 0 && field < footerTypes {
		f.types[field] = int8(physical + 1)
	}
	return err
}

func (f *Footer) group(r *compactReader) error {
	bytes, rows, err := r.group()
	f.Groups += rows
	f.large = cmp.Or(f.large, CheckRunsGroup(bytes, rows))
	return err
}

// group reads a RowGroup: 2 is the number of its bytes, uncompressed, 3 the number of its rows.
func (r *compactReader) group() (bytes, rows int64, err error) {
	err = r.fields(func(id int64, kind byte) (err error) {
		switch id {
		case 2:
			bytes, err = r.integer()
		case 3:
			rows, err = r.integer()
		default:
			err = r.skip(kind)
		}
		return err
	})
	return bytes, rows, err
}

// compactReader reads Thrift in its compact protocol.
type compactReader struct {
	left  []byte
	depth int
}

// maxDepth limits the nesting of structs and lists. No valid footer is deeper.
const maxDepth = 32

var errCompact = errors.New("this is not Thrift")

// Kinds of values in the compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
)

func (r *compactReader) byte() (byte, error) {
	if len(r.left) == 0 {
		return 0, errCompact
	}
	b := r.left[0]
	r.left = r.left[1:]
	return b, nil
}

func (r *compactReader) take(n uint64) error {
	if n > uint64(len(r.left)) {
		return errCompact
	}
	r.left = r.left[n:]
	return nil
}

func (r *compactReader) varint() (uint64, error) {
	v, n := binary.Uvarint(r.left)
	if n <= 0 {
		return 0, errCompact
	}
	r.left = r.left[n:]
	return v, nil
}

func (r *compactReader) integer() (int64, error) {
	v, err := r.varint()
	return int64(v>>1) ^ -int64(v&1), err
}

// fields calls each for the fields of a struct; each has to read the value.
func (r *compactReader) fields(each func(id int64, kind byte) error) error {
	id := int64(0)
	for {
		head, err := r.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := head >> 4; delta != 0 {
			id += int64(delta)
		} else if id, err = r.integer(); err != nil {
			return err
		}
		if err := each(id, head&0xf); err != nil {
			return err
		}
	}
}

// structs calls each for the structs of a list.
func (r *compactReader) structs(kind byte, each func(*compactReader) error) error {
	n, element, err := r.list()
	if err != nil || kind != compactList || element != compactStruct {
		return errCompact
	}
	for range n {
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

func (r *compactReader) list() (n uint64, element byte, err error) {
	head, err := r.byte()
	if n = uint64(head >> 4); n == 15 && err == nil {
		n, err = r.varint()
	}
	if n > uint64(len(r.left)) {
		err = errCompact
	}
	return n, head & 0xf, err
}

// skip skips the value of a field.
func (r *compactReader) skip(kind byte) error {
	switch kind {
	case compactTrue, compactFalse: // the kind is the value
		return nil
	case compactByte:
		return r.take(1)
	case compactDouble:
		return r.take(8)
	case compactBinary:
		n, err := r.varint()
		if err != nil {
			return err
		}
		return r.take(n)
	case compactList, compactSet:
		return r.skipList()
	case compactStruct:
		return r.skipStruct()
	case compactMap:
		return errCompact // no valid footer has a map
	}
	return r.skipVarint()
}

func (r *compactReader) skipVarint() error {
	for i, b := range r.left {
		if b < 0x80 {
			r.left = r.left[i+1:]
			return nil
		}
	}
	return errCompact
}

// skipStruct skips a struct. Most of a footer is skipped, so this avoids a function call per field.
func (r *compactReader) skipStruct() error {
	if r.depth++; r.depth > maxDepth {
		return errCompact
	}
	for len(r.left) > 0 {
		head := r.left[0]
		r.left = r.left[1:]
		if head == 0 {
			r.depth--
			return nil
		}
		if head>>4 == 0 {
			if err := r.skipVarint(); err != nil {
				return err
			}
		}
		if err := r.skip(head & 0xf); err != nil {
			return err
		}
	}
	return errCompact
}

func (r *compactReader) skipList() error {
	n, element, err := r.list()
	if err != nil {
		return err
	}
	if element == compactTrue || element == compactFalse {
		return r.take(n)
	}
	if r.depth++; r.depth > maxDepth {
		return errCompact
	}
	for range n {
		if err := r.skip(element); err != nil {
			return err
		}
	}
	r.depth--
	return nil
}

// NarrowFooter returns the metadata of a Parquet file, without its length, as if the file had no other columns than the ones with the
// wanted field ids. Their places in the file are the same. Decoding it takes much less time than decoding all. The error wraps
// ErrDamaged.
func NarrowFooter(footer []byte, wanted func(field int64) bool) ([]byte, error) {
	n := narrower{compactReader: compactReader{left: footer}, wanted: wanted}
	if err := n.file(); err != nil {
		return nil, errFooter
	}
	return n.out, nil
}

// narrower copies a footer without some of its columns.
type narrower struct {
	compactReader
	wanted func(field int64) bool
	out    []byte
	leaves []bool // whether a leaf of the schema belongs to a wanted column
}

// file copies FileMetaData: 2 is the schema, 4 the row groups, 7 how the values of each leaf are ordered.
func (n *narrower) file() error {
	return n.structure(func(id int64, kind byte) error {
		switch id {
		case 2:
			return n.schema(kind)
		case 4:
			return n.list(kind, func(int) bool { return true }, n.group)
		case 7:
			return n.list(kind, n.leaf, n.whole)
		}
		return n.value(kind)
	})
}

// group copies a RowGroup. Field 1 has its chunks, one for each leaf. Field 4 has the leaves by which it is sorted, by their numbers; it
// is written empty.
func (n *narrower) group() error {
	return n.structure(func(id int64, kind byte) error {
		switch id {
		case 1:
			return n.list(kind, n.leaf, n.whole)
		case 4:
			return n.list(kind, func(int) bool { return false }, nil)
		}
		return n.value(kind)
	})
}

// leaf reports whether a leaf is kept.
func (n *narrower) leaf(i int) bool { return i < len(n.leaves) && n.leaves[i] }

// whole copies a struct.
func (n *narrower) whole() error { return n.value(compactStruct) }

// value copies the value of a field.
func (n *narrower) value(kind byte) error {
	before := n.left
	err := n.skip(kind)
	n.out = append(n.out, before[:len(before)-len(n.left)]...)
	return err
}

// structure copies a struct, of which each copies the values of the fields.
func (n *narrower) structure(each func(id int64, kind byte) error) error {
	before := n.left
	err := n.fields(func(id int64, kind byte) error {
		n.out = append(n.out, before[:len(before)-len(n.left)]...) // its header
		err := each(id, kind)
		before = n.left
		return err
	})
	n.out = append(n.out, 0)
	return err
}

// list copies the structs of a list that are kept, each by copied.
func (n *narrower) list(kind byte, keep func(i int) bool, copied func() error) error {
	all, element, err := n.compactReader.list()
	if err != nil || kind != compactList || element != compactStruct {
		return errCompact
	}
	kept := uint64(0)
	for i := range int(all) {
		if keep(i) {
			kept++
		}
	}
	n.header(kept)
	for i := range int(all) {
		if !keep(i) {
			err = n.skip(compactStruct)
		} else {
			err = copied()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// header begins a list of structs. The long form of its length is always valid.
func (n *narrower) header(structs uint64) {
	n.out = binary.AppendUvarint(append(n.out, 0xf0|compactStruct), structs)
}

// schema copies the elements of the schema: the root, then each column before its children.
func (n *narrower) schema(kind byte) error {
	all, element, err := n.compactReader.list()
	if err != nil || kind != compactList || element != compactStruct || all == 0 {
		return errCompact
	}
	root, err := n.element()
	if err != nil || root.before == nil {
		return errCompact
	}
	var kept []byte
	columns, elements := int64(0), uint64(1)
	for range root.children {
		before, leaves := n.left, len(n.leaves)
		field, count, err := n.column(0)
		if err != nil {
			return err
		}
		if !n.wanted(field) {
			continue
		}
		for i := leaves; i < len(n.leaves); i++ {
			n.leaves[i] = true
		}
		kept = append(kept, before[:len(before)-len(n.left)]...)
		columns, elements = columns+1, elements+count
	}
	n.header(elements)
	n.out = append(n.out, root.before...)
	n.out = binary.AppendVarint(n.out, columns)
	n.out = append(n.out, root.after...)
	n.out = append(n.out, kept...)
	return nil
}

// schemaElement is an element of the schema.
type schemaElement struct {
	field, children int64
	before, after   []byte // its bytes around the number of children
}

// element reads a SchemaElement: 5 is the number of children, 9 the field id.
func (n *narrower) element() (e schemaElement, err error) {
	all := n.left
	e.field = -1
	err = n.fields(func(id int64, kind byte) (err error) {
		switch id {
		case 5:
			e.before = all[:len(all)-len(n.left)]
			e.children, err = n.integer()
			e.after = n.left
		case 9:
			e.field, err = n.integer()
		default:
			err = n.skip(kind)
		}
		return err
	})
	if e.after != nil {
		e.after = e.after[:len(e.after)-len(n.left)]
	}
	return e, err
}

// column reads an element with all its descendants, and returns the field id of the outermost one and the number of elements. Its leaves
// are not kept yet.
func (n *narrower) column(depth int) (field int64, elements uint64, err error) {
	e, err := n.element()
	if err != nil || depth > maxDepth {
		return 0, 0, errCompact
	}
	if e.children == 0 {
		n.leaves = append(n.leaves, false)
	}
	elements = 1
	for range e.children {
		_, more, err := n.column(depth + 1)
		if err != nil {
			return 0, 0, err
		}
		elements += more
	}
	return e.field, elements, nil
}
